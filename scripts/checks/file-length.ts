/** A module has one idea. A file with more than 400 lines usually has two. */
import { readFileSync } from 'node:fs';
import { sourceFiles } from './source-files.ts';

const LINES_MAX = 400;

export async function checkFileLength(): Promise<string[]> {
  return sourceFiles().flatMap((path) => {
    const lines = readFileSync(path, 'utf8').split('\n').length - 1;
    return lines > LINES_MAX ? [`${path}: ${lines} lines, at most ${LINES_MAX}`] : [];
  });
}
