/** google.protobuf.Timestamp and Duration: seconds = 1 (int64), nanos = 2 (int32). */
export const SECONDS_TAG = 8;
export const NANOS_TAG = 16;

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z (timestamp.proto), in seconds. */
export const TIMESTAMP_MIN: i64 = -62135596800;
export const TIMESTAMP_MAX: i64 = 253402300799;
/** Ten thousand years (duration.proto), in seconds. */
export const DURATION_MAX: i64 = 315576000000;
