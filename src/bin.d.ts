/** Schema images are bundled as Data modules, as wrangler takes files of this name by itself. */
declare module "*.bin" {
  const bytes: ArrayBuffer;
  export default bytes;
}

/** And these are compiled before they run, since Workers may not compile. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
