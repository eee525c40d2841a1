/** Schema images are bundled as Data modules, as wrangler takes files of this name by itself. */
declare module "*.bin" {
  const bytes: ArrayBuffer;
  export default bytes;
}
