package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// traffic counts bytes on the wire, heads included.
type traffic struct {
	sent, received atomic.Int64
}

type countedConn struct {
	net.Conn
	traffic *traffic
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.traffic.received.Add(int64(n))
	return n, err
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.traffic.sent.Add(int64(n))
	return n, err
}

func newClient(connections int, bytes *traffic) *http.Client {
	dialer := new(net.Dialer)
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections,
		DisableCompression:  true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			return countedConn{conn, bytes}, err
		},
	}}
}

// exchange is one request and its whole answer, which must be as long as the first one was.
func (r *request) exchange(client *http.Client, scratch []byte) (time.Duration, error) {
	start := time.Now()
	out, err := http.NewRequest(r.Method, r.URL, bytes.NewReader(r.body))
	if err != nil {
		return 0, err
	}
	for name, value := range r.Header {
		out.Header.Set(name, value)
	}
	answer, err := client.Do(out)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	// Hidden, or else io.Copy would bring a buffer of its own.
	length, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{answer.Body}, scratch)
	if err != nil {
		return 0, err
	}
	if answer.StatusCode != r.Status {
		return 0, fmt.Errorf("status %d instead of %d", answer.StatusCode, r.Status)
	}
	if !r.length.CompareAndSwap(0, length) && r.length.Load() != length {
		return 0, fmt.Errorf("%d bytes instead of %d", length, r.length.Load())
	}
	return time.Since(start), nil
}
