/**
 * The examples of the API: docs/api-examples.json, which OpenAPI and the page of the API show. The same calls to the real
 * service still have the same answers, the examples fit the schemas, and the code samples run.
 * `npm run record:examples` records them anew.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { snippetz } from '@scalar/snippetz';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// oxlint-disable-next-line no-restricted-imports -- only the classic build reads JSON Schema; a test ships nothing
import { fromJSONSchema } from 'zod';
import {
  type ApiExample,
  EXAMPLES_PATH,
  makeExamples,
  readExamples,
  writeExamples,
} from '../support/api-tour/examples.ts';
import { shapesDiffer } from '../support/api-tour/shown-values.ts';
import { expectRows } from '../support/rows.ts';
import { useStack } from '../support/stack.ts';

type Schema = Parameters<typeof fromJSONSchema>[0];
type Content = Record<string, { schema: Schema; examples?: { recorded: { value: unknown } } }>;
interface Operation {
  operationId: string;
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
}
const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
const isRecording = process.env['RECORD_API_EXAMPLES'] !== undefined;
const stack = useStack();
let found: ApiExample[] = [];
let recorded: ApiExample[] = [];

beforeAll(async () => {
  found = await makeExamples(stack(), document);
  if (isRecording) writeExamples(found);
  recorded = readExamples();
});

const named = (examples: readonly ApiExample[], name: string) => examples.find(({ operation }) => operation === name);

test.skipIf(isRecording)('every operation has an example, in the file and in OpenAPI', () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(recorded.map(({ operation }) => operation)).toEqual(names);
  for (const { operationId, requestBody, responses } of operations) {
    const example = named(recorded, operationId)!;
    const shown = [
      Object.values(requestBody?.content ?? {})[0]?.examples?.recorded.value,
      responses[200]?.content[example.contentType]?.examples?.recorded.value,
    ];
    expect([operationId, ...shown]).toEqual([operationId, example.request, example.response]);
  }
});

test('every operation is called and answered as its example says', () =>
  expectRows(
    operations.map(({ operationId }) => operationId),
    (name) => {
      const [example, call] = [named(recorded, name), named(found, name)];
      expect([call?.method, call?.contentType]).toEqual([example?.method, example?.contentType]);
      expect(shapesDiffer(example?.request ?? {}, call?.request ?? {}, 'request')).toEqual([]);
      expect(shapesDiffer(example?.response, call?.response, 'response')).toEqual([]);
    },
  ));

test('every example fits the schema of its operation', () => {
  const fits = (schema: Schema | undefined, value: unknown): unknown[] => {
    if (schema === undefined || typeof value === 'string') return [];
    const text = JSON.stringify({ ...(schema as object), $defs: document.components.schemas });
    const checked = fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))).safeParse(value);
    return checked.success ? [] : checked.error.issues;
  };
  for (const { operationId, requestBody, responses } of operations) {
    const { request, contentType, response } = named(recorded, operationId)!;
    const body = Object.values(requestBody?.content ?? {})[0]?.schema;
    const issues = [
      ...(request === undefined ? [] : fits(body, request)),
      ...fits(responses[200]?.content[contentType]?.schema, response),
    ];
    expect([operationId, ...issues]).toEqual([operationId]);
  }
});

test('no example has a credential or an address of the machine that recorded it', () => {
  const text = readFileSync(EXAMPLES_PATH, 'utf8');
  expect(text).not.toMatch(/eyJ[\w-]+\.|127\.0\.0\.1|localhost|whsec_(?!YOUR_)|secret_[\w-]{20}/);
  // A key, a seal or a token is a long word with digits and letters of both cases.
  const words = text.match(/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{20,}/g) ?? [];
  expect(words.filter((word) => !word.includes('EXAMPLE'))).toEqual([]);
});

/** As the page of the API writes them, which uses the same library. */
const samples = [
  { language: 'curl', client: ['shell', 'curl'], run: ['sh'], probe: ['sh', '-c', 'curl --version'], file: 'call.sh' },
  {
    language: 'JavaScript',
    client: ['js', 'fetch'],
    run: [process.execPath],
    probe: [process.execPath, '--version'],
    file: 'call.mjs',
  },
  { language: 'Python', client: ['python', 'python3'], run: ['python3'], probe: ['python3', '-V'], file: 'call.py' },
  {
    language: 'PHP',
    client: ['php', 'curl'],
    run: ['php'],
    probe: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    file: 'call.php',
  },
  { language: 'Go', client: ['go', 'native'], run: ['go', 'run'], probe: ['go', 'version'], file: 'call.go' },
];

/** The sample as a program of its own. */
const programs: Readonly<Record<string, (sample: string) => string>> = {
  JavaScript: (sample) => `const response = await ${sample};\nconsole.log(await response.text());\n`,
  PHP: (sample) => `<?php\n${sample}`,
};

function runs([command = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function sampleOf(name: string, [target, client]: readonly string[]): string {
  const { method, path, request } = named(recorded, name)!;
  const json = { name: 'Content-Type', value: 'application/json' };
  const sample = snippetz().print(
    target as 'shell',
    client as 'curl',
    {
      url: `${stack().serviceUrl}${path}`,
      method: method.toUpperCase(),
      headers: [...(request === undefined ? [] : [json]), { name: 'Authorization', value: `Bearer ${stack().apiKey}` }],
      ...(request === undefined ? {} : { postData: { mimeType: 'application/json', text: JSON.stringify(request) } }),
    } as never,
  );
  return sample ?? '';
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-samples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(samples.filter(({ probe }) => runs(probe)))(
  'the code sample in $language',
  ({ language, client, run: [command = '', ...args], file }) => {
    test.each([
      ['explain-access-rules', '"decision":'],
      ['get-users', '"isOwner":true'],
    ])('of %s calls the service', async (name, answer) => {
      const sample = sampleOf(name, client);
      const program = join(folder, file);
      writeFileSync(program, programs[language]?.(sample) ?? sample);
      const { stdout } = await promisify(execFile)(command, [...args, program]);
      expect(stdout).toContain(answer);
    });
  },
);

test.runIf(runs(['php', '--version']))('every code sample in PHP is valid PHP', () => {
  for (const { operation } of recorded) {
    const program = join(folder, 'valid.php');
    writeFileSync(program, `<?php\n${sampleOf(operation, ['php', 'curl'])}`);
    expect([operation, runs(['php', '-l', program])]).toEqual([operation, true]);
  }
});
