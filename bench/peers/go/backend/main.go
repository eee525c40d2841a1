// Backend ITEM: Connect, gRPC and gRPC-Web. ITEM is a file with an Item in binary, which is what it answers.
package main

import (
	"log"
	"net/http"
	"os"

	"google.golang.org/protobuf/proto"

	"isthmus.bench/peers/gen"
	"isthmus.bench/peers/gen/genconnect"
	"isthmus.bench/peers/listen"
	"isthmus.bench/peers/service"
)

func main() {
	wire, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	item := new(gen.Item)
	if err := proto.Unmarshal(wire, item); err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(genconnect.NewShopHandler(&service.Shop{Item: item}))
	listen.Serve(mux)
}
