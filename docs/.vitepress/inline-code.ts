/**
 * Takes inline scripts and styles out of the built pages, because the site's content security policy allows neither. Each
 * script becomes a file that is named by its hash and loaded where it stood. The few inline styles are initial values that
 * the theme's script sets again.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'assets/inline';
const HASH_CHARS = 12;
const scripts = new Map<string, string>();

export function withoutInlineCode(html: string): string {
  return html
    .replaceAll(/<script(?![^>]*\ssrc=)([^>]*)>([\s\S]+?)<\/script>/g, (_, attributes: string, source: string) => {
      const hash = createHash('sha256').update(source).digest('hex').slice(0, HASH_CHARS);
      const name = `${FOLDER}/${hash}.js`;
      scripts.set(name, source);
      return `<script${attributes} src="/docs/${name}"></script>`;
    })
    .replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1');
}

export function writeScripts(outDir: string): void {
  mkdirSync(join(outDir, FOLDER), { recursive: true });
  for (const [name, source] of scripts) writeFileSync(join(outDir, name), source);
}
