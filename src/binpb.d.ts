/** Descriptor sets are bundled as Data modules (wrangler.toml). */
declare module "*.binpb" {
  const set: ArrayBuffer;
  export default set;
}
