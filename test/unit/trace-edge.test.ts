/** The tracer of requests through the edge. It runs in a process of its own, because it loads the edge in its own way. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the tracer lists the files of an allowed request from the edge’s entry on, with files, returns and calls', () => {
  const printed = execFileSync(process.execPath, ['scripts/trace-edge.ts', '--list', 'allowed-get'], {
    encoding: 'utf8',
  });
  const lines = printed.trimEnd().split('\n');
  const [, files, returns, calls] = /^(\d+) files, (\d+) returns, (\d+) calls$/.exec(lines.pop()!)!.map(Number);
  const listed = lines.map((line) => /^ *(?<count>[1-9]\d*) {2}(?<file>src\/[\w./-]+)$/.exec(line)?.groups);
  expect(listed[0]?.['file']).toBe('src/edge/app.ts');
  expect(listed).toHaveLength(files!);
  expect(listed.reduce((sum, line) => sum + Number(line?.['count']), 0)).toBe(calls);
  expect(returns).toBeGreaterThan(0);
});
