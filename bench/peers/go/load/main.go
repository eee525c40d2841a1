// Load SPEC: sends requests as fast as they are answered, over connections that stay open, and prints what came of it as
// JSON. SPEC is a file: see spec; the result: see result. The first failed request ends it.
package main

import (
	"encoding/json"
	"log"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

type spec struct {
	// PID of the process whose costs are told.
	PID int
	// Sent over and over, each time by the connection that is free, so that every request has its share.
	Requests    []*request
	Connections int
	// How long requests are sent: first without measuring, then measured.
	WarmUpSeconds, Seconds float64
}

type request struct {
	Method, URL string
	Header      map[string]string
	// A file, or nothing.
	Body string
	// What the answer must have.
	Status int

	body   []byte
	length atomic.Int64
}

type result struct {
	Requests      int     `json:"requests"`
	Seconds       float64 `json:"seconds"`
	CPUSeconds    float64 `json:"cpuSeconds"`
	P50Ms         float64 `json:"p50Ms"`
	P99Ms         float64 `json:"p99Ms"`
	PeakBytes     int     `json:"peakBytes"`
	SentBytes     int64   `json:"sentBytes"`
	ReceivedBytes int64   `json:"receivedBytes"`
}

func main() {
	var spec spec
	text, err := os.ReadFile(os.Args[1])
	check(err)
	check(json.Unmarshal(text, &spec))
	for _, request := range spec.Requests {
		if request.Body != "" {
			request.body, err = os.ReadFile(request.Body)
			check(err)
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(spec.run()))
}

func (s *spec) run() result {
	var bytes traffic
	client := newClient(s.Connections, &bytes)
	send := func(seconds float64) []time.Duration {
		var next atomic.Int64
		deadline := time.Now().Add(time.Duration(seconds * float64(time.Second)))
		times := make([][]time.Duration, s.Connections)
		var connections sync.WaitGroup
		for i := range s.Connections {
			connections.Go(func() {
				scratch := make([]byte, 64<<10)
				for time.Now().Before(deadline) {
					request := s.Requests[int(next.Add(1)-1)%len(s.Requests)]
					took, err := request.exchange(client, scratch)
					check(err)
					times[i] = append(times[i], took)
				}
			})
		}
		connections.Wait()
		return slices.Concat(times...)
	}

	send(s.WarmUpSeconds)
	check(forgetPeak(s.PID))
	sent, received := bytes.sent.Load(), bytes.received.Load()
	cpuBefore, err := cpuSeconds(s.PID)
	check(err)
	start := time.Now()
	times := send(s.Seconds)
	took := time.Since(start)
	cpuAfter, err := cpuSeconds(s.PID)
	check(err)
	peak, err := peakBytes(s.PID)
	check(err)

	slices.Sort(times)
	return result{
		Requests:      len(times),
		Seconds:       took.Seconds(),
		CPUSeconds:    cpuAfter - cpuBefore,
		P50Ms:         quantile(times, 0.50),
		P99Ms:         quantile(times, 0.99),
		PeakBytes:     peak,
		SentBytes:     bytes.sent.Load() - sent,
		ReceivedBytes: bytes.received.Load() - received,
	}
}

// quantile is in milliseconds; times are in order, and at least one, since a deadline ends no request.
func quantile(times []time.Duration, part float64) float64 {
	return times[int(part*float64(len(times)-1))].Seconds() * 1000
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
