// Gateway HOST:PORT: grpc-gateway as its documentation has it, in front of a gRPC backend.
package main

import (
	"context"
	"log"
	"os"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"isthmus.bench/peers/gen"
	"isthmus.bench/peers/listen"
)

func main() {
	mux := runtime.NewServeMux()
	options := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if err := gen.RegisterShopHandlerFromEndpoint(context.Background(), mux, os.Args[1], options); err != nil {
		log.Fatal(err)
	}
	listen.Serve(mux)
}
