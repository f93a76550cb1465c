/** Entry points for the search for dead code: scripts, the Workers' entries, tests and benchmarks. */
import type { KnipConfig } from 'knip';

const root = {
  entry: [
    'src/result.ts',
    'src/edge/any-service.ts',
    'src/cli/{start,gatehouse,packed,queue-relay-worker,unread-bodies}.ts',
    // Entries of scripts/build-client.ts, which names them without their folder.
    'src/widget/{widget,pow-worker,protect,interstitial,copy,frame,languages,dialog,visual}.ts',
    'src/widget/compat/{turnstile,hcaptcha,recaptcha,procaptcha,procaptcha-module}.ts',
    'src/console/main.tsx',
    'src/console/dev/components.tsx',
    'lab/**/*.ts',
    'test/**/*.test.ts',
    'test/mutation/{main,sample,vitest.config}.ts',
    // Bundled by path and run on workerd.
    'test/**/*-worker.ts',
  ],
  project: ['src/**/*.{ts,tsx}', 'lab/**/*.ts', 'test/**/*.ts'],
};

const config: KnipConfig = {
  workspaces: {
    '.': root,
    // Its programs are run by their paths.
    scripts: {
      entry: ['*.ts', 'bots/build-catalogue.ts'],
      project: ['**/*.ts'],
      ignoreDependencies: ['oxlint', 'oxlint-tsgolint'],
    },
    'docs/.vitepress': { entry: ['config.ts', 'build.ts', 'theme/index.ts'], project: ['**/*.ts'] },
    bench: {
      entry: [
        '*.ts',
        'workers/*-worker.ts',
        'measure/load-client.ts',
        'peers/engine-process.ts',
        'rules/compile-memory.ts',
      ],
      project: ['**/*.ts'],
    },
    // Wrappers are bundled for browsers, as applications bundle them. An example of a README imports Next.
    'test/compat': {
      entry: ['*.test.ts', 'wrappers/*.js'],
      project: ['**/*.{ts,js}'],
      ignoreDependencies: ['next'],
    },
    // What scripts/build-packages.ts builds as an entry of the package.
    // Frameworks are optional peers: a package needs those that the application has.
    'packages/server': {
      entry: ['src/*.ts'],
      project: ['src/**/*.ts'],
      ignoreDependencies: ['express', 'fastify', 'hono'],
    },
    'packages/widget': {
      entry: ['src/*.ts'],
      project: ['src/**/*.ts'],
      ignoreDependencies: ['react', 'svelte', 'vue'],
    },
  },
  // A bundle of src/cli.
  ignoreWorkspaces: ['packages/cli'],
  // workerd is found through createRequire: a CommonJS package without types. @typescript/native carries tsc.
  // The wrapper for Vue is compiled with the types of Vue.
  ignoreDependencies: ['workerd', '@typescript/native', 'vue'],
  // Programs of the operating system.
  ignoreBinaries: ['script', 'taskset', 'php', 'nginx', 'apache2', 'java', 'xdotool', 'flite', 'sox'],
  ignoreExportsUsedInFile: true,
};

export default config;
