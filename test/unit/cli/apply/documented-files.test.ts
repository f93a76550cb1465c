/** The files that docs/configuration-file.md shows are files that `plan` and `apply` accept. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../../src/cli/apply/read-config.ts';

const page = readFileSync('docs/configuration-file.md', 'utf8');
const blocks = [...page.matchAll(/^( *)```ya?ml\n([^]*?)^\1```/gm)].map(([, , block = '']) => block);
/** A workflow of CI runs the commands. Everything else is a configuration file. */
const files = blocks.filter((block) => !/^jobs:/m.test(block));

describe('docs/configuration-file.md', () => {
  test('shows configuration files, and one workflow', () => {
    expect([files.length >= 3, blocks.length - files.length]).toEqual([true, 1]);
  });

  test.each(files.map((file, at) => [at + 1, file] as const))('file %i is read without a problem', async (_, file) => {
    await expect(readConfig('the page', file)).resolves.toHaveProperty('wanted');
  });

  test('keeps the condition of its first policy whole', async () => {
    const { wanted } = await readConfig('the page', files[0] ?? '');
    const { policies } = wanted.instances?.get('www.example.com') ?? {};
    const and = [
      { field: 'path', operator: 'startsWith', value: '/api' },
      { not: { field: 'cookie', name: 'sid', operator: 'exists' } },
    ];
    expect(policies).toMatchObject([{ name: 'api', when: { and }, then: { action: 'challenge' } }]);
  });
});
