// Package scanner runs on the handheld scanners: it reads barcodes and sends what was scanned to the service.
package scanner

import (
	"errors"
	"strings"
)

// ErrChecksum means that a barcode was misread: its last digit does not fit the others.
var ErrChecksum = errors.New("check digit does not match")

// ErrLength means that a barcode is neither an EAN-8 nor an EAN-13.
var ErrLength = errors.New("a barcode has 8 or 13 digits")

// Barcode is a code whose check digit has been verified.
type Barcode struct {
	Digits string
	Prefix string
}

// ParseBarcode reads the digits of an EAN and verifies the check digit.
func ParseBarcode(text string) (Barcode, error) {
	digits := strings.TrimSpace(text)
	if len(digits) != 8 && len(digits) != 13 {
		return Barcode{}, ErrLength
	}
	for _, letter := range digits {
		if letter < '0' || letter > '9' {
			return Barcode{}, errors.New("a barcode has digits only")
		}
	}
	last := len(digits) - 1
	if checkDigit(digits[:last]) != digits[last] {
		return Barcode{}, ErrChecksum
	}
	return Barcode{Digits: digits, Prefix: digits[:3]}, nil
}

// checkDigit weighs the digits with 3 and 1 from the right and returns what is missing to the next ten.
func checkDigit(digits string) byte {
	sum := 0
	for index := range digits {
		weight := 1
		if (len(digits)-index)%2 == 1 {
			weight = 3
		}
		sum += weight * int(digits[index]-'0')
	}
	return byte('0' + (10-sum%10)%10)
}
