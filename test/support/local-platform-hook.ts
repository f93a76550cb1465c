/** `node --import` of this file replaces the module `wrangler` by `local-platform.ts`. */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'wrangler'
      ? { url: new URL('local-platform.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
