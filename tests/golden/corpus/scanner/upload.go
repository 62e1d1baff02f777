package scanner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"example.test/backoff"
)

// Uploader sends scans to the service and falls back to the queue when the network is gone.
type Uploader struct {
	URL    string
	Token  string
	Client *http.Client
	Queue  *OfflineQueue
}

// Send delivers one scan now, or puts it into the queue.
func (u *Uploader) Send(ctx context.Context, scan Scan) error {
	if err := u.post(ctx, scan); err != nil {
		return u.Queue.Push(scan)
	}
	return nil
}

// Run drains the queue again and again until the context ends; it waits longer after each failure.
func (u *Uploader) Run(ctx context.Context) {
	wait := backoff.New(time.Second, time.Minute)
	for {
		err := u.Queue.Drain(func(scan Scan) error { return u.post(ctx, scan) })
		if err == nil {
			wait.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait.Next()):
		}
	}
}

func (u *Uploader) post(ctx context.Context, scan Scan) error {
	body, err := json.Marshal(scan)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.URL+"/scans", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+u.Token)
	response, err := u.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("the service answered %s", response.Status)
	}
	return nil
}
