/**
 * Links of the pages, which are written for the repository. A link to another page stays, and a dead one fails the build.
 * A linked file of `docs/` that is no page is copied into the site. A file elsewhere in the repository is not on the site:
 * its text stays, without a link.
 */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

/** Endings that the generator does not know as files. */
export const OTHER_FILE_TYPES = 'py,php,go,sh,sql,toml,svg,webp';

const linkedFiles = new Set<string>();

export function linkWithinSite(md: MarkdownRenderer): void {
  md.core.ruler.push('link-within-site', ({ tokens, env }) => {
    const { path, realPath } = env as { path: string; realPath?: string };
    for (const { children } of tokens) {
      const open: boolean[] = [];
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = linkFrom(realPath ?? path, token.attrGet('href') ?? '');
          open.push(href !== null);
          if (href !== null) token.attrSet('href', href);
          else Object.assign(token, { type: 'text_open', tag: 'span', attrs: null });
        } else if (token.type === 'link_close' && open.pop() === false) {
          Object.assign(token, { type: 'text_close', tag: 'span' });
        }
      }
    }
  });
}

/** @returns `null` for a file that the site does not have. */
function linkFrom(page: string, href: string): string | null {
  if (/^([a-z]+:|#|\/)/i.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const docs = resolve(import.meta.dirname, '../..');
  const target = resolve(dirname(page), decodeURI(file));
  const withinDocs = relative(docs, target);
  if (withinDocs.startsWith('..')) return null;
  if (target.endsWith('.md')) {
    return href.replace(/README\.md(?=#|$)/, 'index.md');
  }
  if (!/\.\w+$/.test(target)) return href;
  if (existsSync(target)) linkedFiles.add(withinDocs);
  return `${file}${anchor === undefined ? '' : `#${anchor}`}`;
}

export function copyLinkedFiles(docs: string, outDir: string): void {
  for (const file of linkedFiles) {
    mkdirSync(dirname(join(outDir, file)), { recursive: true });
    copyFileSync(join(docs, file), join(outDir, file));
  }
}
