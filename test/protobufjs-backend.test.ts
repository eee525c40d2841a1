/**
 * A backend that decodes with protobufjs, as grpc-js does. Where a singular message field stands twice on the wire it
 * keeps the last one only, so a request must reach it with one record a field (DESIGN §1.3).
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { loadFileDescriptorSetFromBuffer, type MethodDefinition, type ServiceDefinition } from "@grpc/proto-loader";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createGateway } from "../src/gateway.ts";
import { compileSet } from "./proto.ts";

const set = await compileSet(`
  syntax = "proto3";
  package shop.v1;
  import "google/api/annotations.proto";
  import "google/protobuf/field_mask.proto";
  service Shop {
    rpc UpdateBook(UpdateBookRequest) returns (Book) {
      option (google.api.http) = {patch: "/v1/{book.name=shelves/*/books/*}" body: "book"
        additional_bindings {put: "/v1/{book.name=shelves/*/books/*}/by/{book.author.first_name}" body: "*"}
        additional_bindings {get: "/v1/{book.name=shelves/*/books/*}:update"}
      };
    }
  }
  message UpdateBookRequest {
    Book book = 1;
    google.protobuf.FieldMask update_mask = 2;
    bool allow_missing = 3;
  }
  message Book { string name = 1; string title = 2; Author author = 3; repeated string tags = 4; }
  message Author { string first_name = 1; string last_name = 2; Life life = 3; }
  message Life { int32 born = 1; int32 died = 2; }
`);

const shop = loadFileDescriptorSetFromBuffer(Buffer.from(set))["shop.v1.Shop"] as ServiceDefinition;
const updateBook = shop.UpdateBook as MethodDefinition<object, object>;

let received: object | undefined;
const server = http.createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.url !== updateBook.path || request.headers["content-type"] !== "application/proto") {
    response.writeHead(415).end();
    return;
  }
  received = updateBook.requestDeserialize(Buffer.concat(chunks));
  response.writeHead(200, { "content-type": "application/proto" }).end(updateBook.responseSerialize({}));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => server.close());

const gateway = createGateway({
  schema: set,
  backends: { "*": { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } },
});

async function send(method: string, path: string, json?: object): Promise<void> {
  const init = json && { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  const response = await gateway.fetch(new Request(`http://gateway${path}`, { method, ...init }));
  expect(await response.text()).toBe("{}");
  expect(response.status).toBe(200);
}

beforeEach(() => {
  received = undefined;
});

it("replaces a split record where the format merges", () => {
  const name = [0x0a, 0x03, 0x0a, 0x01, 0x61];
  const title = [0x0a, 0x03, 0x12, 0x01, 0x62];
  expect(updateBook.requestDeserialize(Buffer.from([...name, ...title]))).toEqual({ book: { title: "b" } });
});

describe("a backend that replaces gets the whole request", () => {
  it("when the path binds a field of the body field", async () => {
    await send("PATCH", "/v1/shelves/s1/books/b1", { title: "T", author: { lastName: "L" }, tags: ["a"] });
    expect(received).toEqual({
      book: { name: "shelves/s1/books/b1", title: "T", author: { last_name: "L" }, tags: ["a"] },
      update_mask: { paths: expect.arrayContaining(["title", "author.last_name", "tags"]) },
    });
  });

  it("when the body field is given empty", async () => {
    await send("PATCH", "/v1/shelves/s1/books/b1?allow_missing=true", {});
    expect(received).toMatchObject({ book: { name: "shelves/s1/books/b1" }, allow_missing: true });
  });

  it('when the path binds at two depths of a body "*"', async () => {
    await send("PUT", "/v1/shelves/s1/books/b1/by/Ann", {
      book: { author: { life: { born: 1900 }, lastName: "L" }, title: "T" },
      allowMissing: true,
    });
    expect(received).toEqual({
      book: {
        name: "shelves/s1/books/b1",
        title: "T",
        author: { first_name: "Ann", last_name: "L", life: { born: 1900 } },
      },
      allow_missing: true,
    });
  });

  it('when a body "*" does not have the messages that the path binds into', async () => {
    await send("PUT", "/v1/shelves/s1/books/b1/by/Ann", { updateMask: "title" });
    expect(received).toEqual({
      book: { name: "shelves/s1/books/b1", author: { first_name: "Ann" } },
      update_mask: { paths: ["title"] },
    });
  });

  it("when query and path share parents, in any order", async () => {
    const query =
      "book.author.life.born=1900&book.title=T&book.author.last_name=L&allow_missing=true&book.author.life.died=1980";
    await send("GET", `/v1/shelves/s1/books/b1:update?${query}`);
    expect(received).toEqual({
      book: {
        name: "shelves/s1/books/b1",
        title: "T",
        author: { last_name: "L", life: { born: 1900, died: 1980 } },
      },
      allow_missing: true,
    });
  });
});
