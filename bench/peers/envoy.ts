/** Envoy's configuration: grpc_json_transcoder in front of a gRPC backend, and nothing else. */
import { SERVICE } from "./shop.ts";

const TYPE = "type.googleapis.com/envoy.extensions";

/** @param set path of a FileDescriptorSet. */
export function formatEnvoyConfig(port: number, backendPort: number, set: string): string {
  const filters = [
    {
      name: "envoy.filters.http.grpc_json_transcoder",
      typed_config: {
        "@type": `${TYPE}.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder`,
        proto_descriptor: set,
        services: [SERVICE],
        convert_grpc_status: true,
        // Messages of 1 MB are larger than its buffers are by default.
        max_request_body_size: 4 << 20,
        max_response_body_size: 4 << 20,
      },
    },
    { name: "envoy.filters.http.router", typed_config: { "@type": `${TYPE}.filters.http.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: "/" }, route: { cluster: "backend", timeout: "0s" } }];
  const manager = {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: {
      "@type": `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: "bench",
      route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
      http_filters: filters,
    },
  };
  const cluster = {
    name: "backend",
    type: "STATIC",
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: "backend",
      endpoints: [{ lb_endpoints: [{ endpoint: { address: addressOf(backendPort) } }] }],
    },
    // Its limits for a production cluster are no part of the comparison.
    circuit_breakers: { thresholds: [{ max_connections: 10_000, max_pending_requests: 10_000, max_requests: 10_000 }] },
  };
  const listener = { name: "bench", address: addressOf(port), filter_chains: [{ filters: [manager] }] };
  return JSON.stringify({ static_resources: { listeners: [listener], clusters: [cluster] } });
}

function addressOf(port: number): object {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}
