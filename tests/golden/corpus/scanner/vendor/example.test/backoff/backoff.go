// Package backoff computes how long to wait before the next attempt: exponential backoff with jitter.
package backoff

import (
	"math/rand"
	"time"
)

// Backoff is the state of one series of attempts.
type Backoff struct {
	first, most, next time.Duration
}

// New returns a series that begins with first and never waits longer than most.
func New(first, most time.Duration) *Backoff {
	return &Backoff{first: first, most: most, next: first}
}

// Next returns the pause before the next attempt and doubles it.
func (b *Backoff) Next() time.Duration {
	pause := b.next
	b.next = min(b.next*2, b.most)
	jitter := 0.5 + rand.Float64()
	return time.Duration(float64(pause) * jitter)
}

// Reset begins the series again after a success.
func (b *Backoff) Reset() {
	b.next = b.first
}
