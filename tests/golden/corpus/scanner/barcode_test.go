package scanner

import (
	"errors"
	"testing"
)

func TestParseBarcodeAcceptsValidCodes(t *testing.T) {
	for _, text := range []string{"4006381333931", "96385074", " 4006381333931 "} {
		if _, err := ParseBarcode(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseBarcodeRejectsMisreadDigits(t *testing.T) {
	if _, err := ParseBarcode("4006381333932"); !errors.Is(err, ErrChecksum) {
		t.Errorf("got %v, want ErrChecksum", err)
	}
}

func TestParseBarcodeRejectsOtherLengths(t *testing.T) {
	if _, err := ParseBarcode("12345"); !errors.Is(err, ErrLength) {
		t.Errorf("got %v, want ErrLength", err)
	}
}
