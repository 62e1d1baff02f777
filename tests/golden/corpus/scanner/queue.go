package scanner

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"time"
)

// Scan is one reading, as it is sent to the service.
type Scan struct {
	Code  string    `json:"code"`
	BinID string    `json:"bin_id"`
	Units int       `json:"units"`
	At    time.Time `json:"at"`
}

// OfflineQueue keeps scans in a file while there is no network, so that a dead battery loses nothing.
type OfflineQueue struct {
	mutex sync.Mutex
	path  string
}

// NewOfflineQueue opens the queue in a file, which need not exist yet.
func NewOfflineQueue(path string) *OfflineQueue {
	return &OfflineQueue{path: path}
}

// Push appends a scan and waits until the disk has it.
func (q *OfflineQueue) Push(scan Scan) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	file, err := os.OpenFile(q.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := json.NewEncoder(file).Encode(scan); err != nil {
		return err
	}
	return file.Sync()
}

// Drain passes every scan to send, oldest first, and keeps what comes after the first failure.
func (q *OfflineQueue) Drain(send func(Scan) error) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	scans, err := q.read()
	if err != nil {
		return err
	}
	for index, scan := range scans {
		if err := send(scan); err != nil {
			return q.rewrite(scans[index:])
		}
	}
	return q.rewrite(nil)
}

func (q *OfflineQueue) read() ([]Scan, error) {
	file, err := os.Open(q.path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var scans []Scan
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var scan Scan
		if json.Unmarshal(lines.Bytes(), &scan) == nil {
			scans = append(scans, scan)
		}
	}
	return scans, lines.Err()
}

func (q *OfflineQueue) rewrite(scans []Scan) error {
	file, err := os.Create(q.path)
	if err != nil {
		return err
	}
	defer file.Close()
	encoder := json.NewEncoder(file)
	for _, scan := range scans {
		if err := encoder.Encode(scan); err != nil {
			return err
		}
	}
	return nil
}
