/** The completion scripts: bash runs its own for real, and each shell that is on this machine reads its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandTable } from '../../../src/cli/command-table.ts';
import { gatehouse } from '../../support/gatehouse.ts';
import { expectRows } from '../../support/rows.ts';

let dir = '';
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-completion-'));
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(join(dir, shell), (await gatehouse(['completion', shell])).output);
  writeFileSync(join(dir, 'my list.csv'), '');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What the bash function offers for a line, of which the last word is being typed. */
function offered(...words: string[]): string[] {
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
  // Bash reads the machine's start-up file when its input is a socket, as a pipe of Node is.
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-uc', script, 'bash', './bash', 'gatehouse', ...words], {
    encoding: 'utf8',
    cwd: dir,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

describe('bash', () => {
  test('offers the words that may follow', () =>
    expectRows(
      [
        [['ve'], ['verdicts']],
        [['rules', 'im'], ['import']],
        [
          ['rules', ''],
          ['add', 'list', 'remove', 'import', 'preview', 'export', 'history', 'rollback'],
        ],
        [['--state', 'x', 'rules', 'exp'], ['export']],
        [['rules', 'import', '--form'], ['--format']],
        [
          ['rules', 'import', '--format', ''],
          ['csv', 'ndjson', 'list'],
        ],
        [['rules', 'import', '--format', '=', 'c'], ['csv']],
        [['rules', 'import', 'my'], ['my list.csv']],
        [['top', 'req'], ['request_path']],
        [['top', 'asn', '--decision', 'b'], ['block']],
        [['verdicts', '--deci'], ['--decision']],
        [
          ['completion', ''],
          ['bash', 'zsh', 'fish'],
        ],
        [['why', ''], []],
        [['nonsense', ''], []],
        [['-'], ['--help', '--version']],
      ],
      ([words, names]) => {
        expect(offered(...words)).toEqual(names);
      },
    ));

  test('offers every command, and every flag of each', () => {
    const nouns = new Set(Object.keys(commandTable).map((name) => name.split(' ')[0]));
    expect(offered('')).toEqual([...nouns, 'help']);
    for (const [name, { required, optional, switches = [] }] of Object.entries(commandTable)) {
      const flags = [...Object.keys({ ...required, ...optional }), ...switches].map((flag) => `--${flag}`);
      expect([name, offered(...name.split(' '), '--')]).toEqual([name, expect.arrayContaining([...flags, '--json'])]);
    }
  });

  test('completes a line that is typed at a terminal', () => {
    const typed = `PS1='> '\nsource ./bash\ngatehouse() { echo "ran: $*"; }\ngatehouse rules expo\t--form\tnd\t\nexit\n`;
    const { stdout } = spawnSync('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
      input: typed,
      encoding: 'utf8',
      cwd: dir,
      env: { ...process.env, TERM: 'dumb', INPUTRC: '/dev/null' },
    });
    expect(stdout).toContain('ran: rules export --format ndjson');
  });
});

test.each([
  ['bash', ['-n']],
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
])('%s reads its script without an error', (shell, flags) => {
  const read = spawnSync(shell, [...flags, join(dir, shell)], { encoding: 'utf8' });
  const isMissing = (read.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  // bash is everywhere. Of the others, those that are here.
  expect(isMissing && shell !== 'bash' ? [0, ''] : [read.status, read.stderr]).toEqual([0, '']);
});

test.each(['zsh', 'fish'])('%s gets every command and every value of a flag', async (shell) => {
  const { output } = await gatehouse(['completion', shell]);
  for (const name of Object.keys(commandTable)) for (const word of name.split(' ')) expect(output).toContain(word);
  expect(output).toContain('csv ndjson list');
});

test('another shell is refused with the names of the three', async () => {
  expect(await gatehouse(['completion', 'tcsh'])).toEqual({
    exitCode: 1,
    output: '',
    errors: 'There is no completion for tcsh. Use bash, zsh or fish.',
  });
});
