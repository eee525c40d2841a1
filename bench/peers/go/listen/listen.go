// Package listen serves HTTP/1.1, and HTTP/2 without TLS, on a port that the kernel chooses.
package listen

import (
	"fmt"
	"log"
	"net"
	"net/http"
)

// Serve prints the port, and then serves until the process is ended.
func Serve(handler http.Handler) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal((&http.Server{Handler: handler, Protocols: protocols}).Serve(listener))
}
