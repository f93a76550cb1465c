/** VitePress as `scripts/build-docs.ts` uses it, from the packages of this folder. */
export { build } from 'vitepress';
