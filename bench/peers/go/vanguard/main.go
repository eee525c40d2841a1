// Vanguard HOST:PORT: vanguard-go in front of a reverse proxy; REST and JSON become Connect in binary.
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"connectrpc.com/vanguard"

	"isthmus.bench/peers/gen/genconnect"
	"isthmus.bench/peers/listen"
)

func main() {
	backend := &url.URL{Scheme: "http", Host: os.Args[1]}
	// What net/http keeps by default, two idle connections, would have it connect anew all the time.
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(request *httputil.ProxyRequest) { request.SetURL(backend) },
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1000},
		FlushInterval: -1,
	}
	transcoder, err := vanguard.NewTranscoder([]*vanguard.Service{vanguard.NewService(
		genconnect.ShopName,
		proxy,
		vanguard.WithTargetProtocols(vanguard.ProtocolConnect),
		vanguard.WithTargetCodecs(vanguard.CodecProto),
	)})
	if err != nil {
		log.Fatal(err)
	}
	listen.Serve(transcoder)
}
