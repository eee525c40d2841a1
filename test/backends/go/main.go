// A connect-go backend over dynamic messages: every method of the set answers with its request.
//
// The only argument is the path of a FileDescriptorSet. The first line of standard output is the address. Ends when
// standard input does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

func main() {
	files, err := readFiles(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				mux.Handle(echo(files, methods.Get(j)))
			}
		}
		return true
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func readFiles(path string) (*protoregistry.Files, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	return protodesc.NewFiles(set)
}

func echo(files *protoregistry.Files, method protoreflect.MethodDescriptor) (string, http.Handler) {
	procedure := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	call := func(_ context.Context, request *connect.Request[dynamicpb.Message]) (*connect.Response[dynamicpb.Message], error) {
		header := request.Header()
		if header.Get("X-Fail") != "" {
			return nil, failure(files)
		}
		response := connect.NewResponse(request.Msg)
		for _, suffix := range []string{"", "-Bin"} {
			if value := header.Get("X-Ask" + suffix); value != "" {
				response.Header().Set("X-Answer"+suffix, value)
			}
		}
		response.Trailer().Set("X-End", "done")
		return response, nil
	}
	return procedure, connect.NewUnaryHandler(procedure, call, connect.WithSchema(method),
		connect.WithRequestInitializer(func(_ connect.Spec, message any) error {
			if dynamic, ok := message.(*dynamicpb.Message); ok {
				*dynamic = *dynamicpb.NewMessage(method.Input())
			}
			return nil
		}))
}

// failure is the error that test/backends/shop.ts describes.
func failure(files *protoregistry.Files) error {
	desc, err := files.FindDescriptorByName("shop.v1.Reason")
	if err != nil {
		return err
	}
	reason := dynamicpb.NewMessage(desc.(protoreflect.MessageDescriptor))
	fields := reason.Descriptor().Fields()
	reason.Set(fields.ByName("why"), protoreflect.ValueOfString("quota ☕"))
	reason.Set(fields.ByName("limit"), protoreflect.ValueOfUint64(1<<63))
	detail, err := connect.NewErrorDetail(reason)
	if err != nil {
		return err
	}
	failed := connect.NewError(connect.CodeResourceExhausted, errors.New("no more, 100% ☕"))
	failed.AddDetail(detail)
	failed.Meta().Set("X-Cost", "9")
	return failed
}
