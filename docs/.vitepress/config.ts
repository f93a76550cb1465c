/**
 * The documentation site: `npm run build:docs` builds the pages of `docs/` into static files, which the service serves
 * under `/docs`. It needs no other host and keeps the content security policy of `src/service/docs`: no inline script and
 * no inline style.
 */
import { resolve } from 'node:path';
import { createCssVariablesTheme } from 'shiki/core';
import { defineConfig } from 'vitepress';
import { writeApiPage } from './api-page.ts';
import { copyLinkedFiles, linkWithinSite, OTHER_FILE_TYPES } from './markdown/links.ts';
import { headingAnchor } from './markdown/heading-anchor.ts';
import { policyLanguage } from './markdown/policy-language.ts';
import { tokenClasses } from './markdown/token-classes.ts';
import { sidebar } from './navigation.ts';
import { withoutInlineCode, writeScripts } from './inline-code.ts';

const DOCS = resolve(import.meta.dirname, '..');
const ROOT = resolve(DOCS, '..');

process.env['VITE_EXTRA_EXTENSIONS'] = OTHER_FILE_TYPES;

export default defineConfig({
  title: 'Gatehouse',
  description: 'Open bot protection that runs on Cloudflare Workers',
  lang: 'en',
  base: '/docs/',
  outDir: resolve(ROOT, 'dist/site/docs'),
  cacheDir: resolve(ROOT, 'node_modules/.cache/vitepress'),
  cleanUrls: true,
  // Turning transitions off while the theme changes takes an inline style sheet.
  appearance: { disableTransition: false },
  metaChunk: true,
  // Pages link to the reader's own stack, which need not run.
  ignoreDeadLinks: 'localhostLinks',
  // Its rows are in the reference of the API.
  srcExclude: ['api-fields.md'],
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    // The hosting platform shows the pages too. Both make the same anchors and neither renders HTML of a page.
    html: false,
    anchor: { slugify: headingAnchor },
    theme: createCssVariablesTheme({ name: 'classes' }),
    codeTransformers: [tokenClasses],
    // Rules and conditions have a notation of their own.
    languages: [policyLanguage],
    config: linkWithinSite,
  },
  vite: { build: { target: 'es2022' } },
  transformHtml: withoutInlineCode,
  buildEnd({ outDir }) {
    writeScripts(outDir);
    writeApiPage(outDir);
    copyLinkedFiles(DOCS, outDir);
  },
  themeConfig: {
    nav: [
      { text: 'Documentation', link: '/' },
      { text: 'API', link: '/api', target: '_self' },
    ],
    sidebar: sidebar(DOCS),
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { detailedView: true } },
    docFooter: { prev: 'Previous page', next: 'Next page' },
  },
});
