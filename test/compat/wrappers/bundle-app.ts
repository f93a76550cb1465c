/** Bundles an application as a developer's build does: esbuild, with the compilers of Vue and Svelte. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { compile } from 'svelte/compiler';
import { compileScript, parse } from 'vue/compiler-sfc';

export type Target = 'browser' | 'server';

export async function bundleApp(folder: string, entry: string, target: Target): Promise<string> {
  const result = await build({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: target === 'browser' ? 'browser' : 'node',
    // Packages that are CommonJS ask for Node's own modules.
    banner:
      target === 'browser'
        ? {}
        : { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
    target: 'es2022',
    jsx: 'automatic',
    conditions: ['svelte', 'production'],
    define: {
      'process.env.NODE_ENV': '"development"',
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    // Installed packages are links, and their peers are those of the application.
    preserveSymlinks: false,
    nodePaths: [`${folder}/node_modules`],
    plugins: [vueFiles(target), svelteFiles(target)],
    logLevel: 'silent',
  });
  return result.outputFiles[0]?.text ?? '';
}

function vueFiles(target: Target): Plugin {
  return {
    name: 'vue-files',
    setup(compiler) {
      compiler.onLoad({ filter: /\.vue$/ }, ({ path }) => {
        const { descriptor } = parse(readFileSync(path, 'utf8'), { filename: path });
        const options = {
          id: basename(path),
          inlineTemplate: true,
          templateOptions: { ssr: target === 'server', ssrCssVars: [] },
        };
        return { contents: compileScript(descriptor, options).content, loader: 'js' };
      });
    },
  };
}

function svelteFiles(target: Target): Plugin {
  return {
    name: 'svelte-files',
    setup(compiler) {
      compiler.onLoad({ filter: /\.svelte$/ }, ({ path }) => {
        const options = { filename: path, generate: target === 'browser' ? 'client' : 'server' } as const;
        const { js, warnings } = compile(readFileSync(path, 'utf8'), options);
        return { contents: js.code, loader: 'js', warnings: warnings.map(({ message }) => ({ text: message })) };
      });
    },
  };
}
