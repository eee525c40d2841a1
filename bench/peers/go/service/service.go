// Package service is the backend that all peers have behind them.
package service

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"isthmus.bench/peers/gen"
)

// Shop answers without any work of its own.
type Shop struct {
	Item *gen.Item
}

func (s *Shop) GetItem(context.Context, *connect.Request[gen.GetItemRequest]) (*connect.Response[gen.Item], error) {
	return connect.NewResponse(s.Item), nil
}

func (s *Shop) Echo(_ context.Context, r *connect.Request[gen.Batch]) (*connect.Response[gen.Batch], error) {
	return connect.NewResponse(r.Msg), nil
}

func (s *Shop) Watch(_ context.Context, r *connect.Request[gen.WatchRequest], out *connect.ServerStream[gen.Item]) error {
	for range r.Msg.Count {
		if err := out.Send(s.Item); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shop) Upload(_ context.Context, in *connect.ClientStream[gen.Item]) (*connect.Response[gen.UploadResult], error) {
	count := int32(0)
	for in.Receive() {
		count++
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return connect.NewResponse(&gen.UploadResult{Count: count}), nil
}

func (s *Shop) Fail(context.Context, *connect.Request[gen.FailRequest]) (*connect.Response[gen.Item], error) {
	return nil, connect.NewError(connect.CodeNotFound, errors.New("no such item"))
}
