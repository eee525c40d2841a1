// front ADDRESS stands before a Worker as Cloudflare's edge does. Bare workerd closes the connection with an answer that comes
// before the end of the request, and does not always say so in the answer. A caller that still writes may then see a broken pipe
// in place of the answer, and the next call of a connection may run into its end. So callers may write on after the
// answer here, and a connection is good for one call.
//
// It prints the port on 127.0.0.1 where it listens, relays bytes, and ends with its standard input.
package main

import (
	"bufio"
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
		if err := ask(worker, caller); err == nil || err == io.EOF {
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

// ask hands on the request, with one field more.
func ask(worker, caller *net.TCPConn) error {
	reader := bufio.NewReader(caller)
	line, err := reader.ReadString('\n')
	if err != nil {
		return err
	}
	if _, err := io.WriteString(worker, line+"Connection: close\r\n"); err != nil {
		return err
	}
	_, err = io.Copy(worker, reader)
	return err
}
