/** Releases: which tags become one, with which notes, and what the workflow may do. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { releaseNotes } from '../../scripts/release-notes.ts';

const changelog = `# Changelog

## 1.2.0 (2027-01-31)

- **Limits** count by path too: [limits](docs/limits.md#logins).
- See [the standard](https://example.com/a) and [above](#limits).

### Migration

None.

## 1.1.9 (2026-12-24)

- Something older.
`;
const release = { tag: 'v1.2.0', version: '1.2.0', changelog };

describe('the notes of a release', () => {
  test('are what the changelog says about that version, with its sections, and nothing of another', () => {
    const notes = releaseNotes(release);
    expect(notes.startsWith('- **Limits** count by path too')).toBe(true);
    expect(notes.endsWith('### Migration\n\nNone.\n')).toBe(true);
  });

  test('link to the files of the tag, and elsewhere as before', () => {
    const notes = releaseNotes({ ...release, filesUrl: 'https://git.example.com/o/r/blob/v1.2.0' });
    expect(notes).toContain('(https://git.example.com/o/r/blob/v1.2.0/docs/limits.md#logins)');
    expect(notes).toContain('[the standard](https://example.com/a) and [above](#limits)');
  });

  test('of the only version run to the end of the file', () => {
    const only = changelog.slice(0, changelog.indexOf('## 1.1.9'));
    expect(releaseNotes({ ...release, changelog: only })).toBe(releaseNotes(release));
  });

  test.each([
    ['a tag of another version', { tag: 'v1.2.1' }, 'The tag is v1.2.1 and package.json has 1.2.0.'],
    ['a tag without its letter', { tag: '1.2.0' }, 'The tag is 1.2.0 and'],
    ['no tag', { tag: '' }, 'The tag is  and'],
    ['a changelog that begins with another version', { version: '1.3.0', tag: 'v1.3.0' }, 'Write what is new in 1.3.0'],
    ['a version without a day', { changelog: changelog.replace('2027-01-31', 'unreleased') }, 'Write the day'],
    ['a version without text', { changelog: '## 1.2.0 (2027-01-31)\n\n## 1.1.9 (2026-12-24)\n\nOld.\n' }, 'no text'],
    ['an empty changelog', { changelog: '' }, 'Write what is new in 1.2.0'],
  ])('%s is refused', (_, changed, says) => {
    expect(() => releaseNotes({ ...release, ...changed })).toThrow(says);
  });
});

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; environment?: string; steps: Step[] }>;
}
interface Step {
  uses?: string;
  run?: string;
}

const workflows = globSync('.github/workflows/*.yml').map((path) => ({
  path,
  workflow: parse(readFileSync(path, 'utf8')) as Workflow,
}));

test.each(workflows)('$path names every action by its commit', ({ workflow }) => {
  const used = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(used.length).toBeGreaterThan(0);
  // An action of this repository is of the commit that runs.
  expect(used.filter((name) => !/@[0-9a-f]{40}$/.test(name) && !name.startsWith('./'))).toEqual([]);
});

describe('the workflow of a release', () => {
  const { workflow } = workflows.find(({ path }) => path.endsWith('release.yml'))!;
  const commandsOf = (steps: Step[]): string => steps.map(({ run = '' }) => run).join('\n');

  test('runs code of packages only where it can write nothing and knows no secret', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const { permissions, environment, steps } of Object.values(workflow.jobs)) {
      const runsCode = /npm (?:ci|test|run|pack)\b|node |\.ci\/run/.test(commandsOf(steps));
      expect(runsCode).toBe(permissions === undefined && environment === undefined);
    }
  });

  test('tests before it packs, and packs before it releases and publishes', () => {
    const [first, ...others] = Object.values(workflow.jobs);
    const commands = commandsOf(first?.steps ?? []);
    const at = ['release-notes.ts', '.ci/run', 'npm pack'].map((text) => commands.indexOf(text));
    expect([at.toSorted((a, b) => a - b), Math.min(...at) >= 0]).toEqual([at, true]);
    expect(others).toMatchObject([{ needs: 'test-and-pack' }, { needs: 'release', environment: 'npm' }]);
  });

  test('calls programs of this repository that exist', () => {
    const commands = commandsOf(Object.values(workflow.jobs).flatMap(({ steps }) => steps));
    const called = [...commands.matchAll(/(?:^|\s)((?:scripts|\.ci)\/[\w.-]+)/g)].map(([, path = '']) => path);
    expect(called.length).toBeGreaterThan(1);
    expect(called.filter((path) => !existsSync(path))).toEqual([]);
  });
});
