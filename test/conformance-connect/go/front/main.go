// front ADDRESS stands before a Worker as Cloudflare's edge does: it takes what a caller still writes when the answer has come.
// Bare workerd closes the connection with an answer that comes before the end of the request, and a caller that still writes may
// then see a broken pipe in place of the answer.
//
// It prints the port on 127.0.0.1 where it listens, relays bytes, and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"
)

// How long a caller may go on after the answer.
const grace = time.Second

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			caller, err := listener.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go relay(caller.(*net.TCPConn), os.Args[1])
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func relay(caller *net.TCPConn, address string) {
	defer caller.Close()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		log.Print(err)
		return
	}
	worker := conn.(*net.TCPConn)
	defer worker.Close()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		if _, err := io.Copy(worker, caller); err == nil {
			worker.CloseWrite()
		} else if _, err := io.Copy(io.Discard, caller); err != nil {
			// It was the caller who broke off, and the Worker learns of it in the same way.
			worker.SetLinger(0)
			worker.Close()
		}
	}()
	io.Copy(caller, worker)
	caller.CloseWrite()
	select {
	case <-asked:
	case <-time.After(grace):
	}
}
