/**
 * Records which functions of `src/` call which. From the import of this module on, each function of a file of `src/` that
 * is loaded reports its calls. The caller is known across `await` too, because every call runs in an asynchronous context
 * of its own. A generator has none: the function that iterates over it counts as the caller of what it calls.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAst } from 'vitest/node';

/** A call of a function in `file` by one in `caller`; `null` where the caller is not in `src/`. */
export interface Call {
  file: string;
  caller: string | null;
}

interface Running {
  file: string | null;
  calls: Call[];
}

const ROOT = pathToFileURL(`${resolve(import.meta.dirname, '../..')}/`).href;
/** The name under which instrumented code finds `traced`. */
const TRACED = 'gatehouseTraced';

const running = new AsyncLocalStorage<Running>();

function traced<Value>(file: string, body: () => Value): Value {
  const caller = running.getStore();
  if (caller === undefined) return body();
  const { calls } = caller;
  calls.push({ file, caller: caller.file });
  return running.run({ file, calls }, body);
}

/** The calls until the promise of `work` settles, in the order in which they began. */
export async function callsOf(work: () => Promise<unknown>): Promise<readonly Call[]> {
  const calls: Call[] = [];
  await running.run({ file: null, calls }, work);
  // Work that continues after the response still adds to the list of calls.
  return [...calls];
}

export function figuresOf(calls: readonly Call[]): { files: number; returns: number; calls: number } {
  const returns = calls.filter(({ file, caller }) => caller !== null && caller !== file).length;
  return { files: callsByFile(calls).size, returns, calls: calls.length };
}

/** In the order of the first call. */
export function callsByFile(calls: readonly Call[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { file } of calls) counts.set(file, (counts.get(file) ?? 0) + 1);
  return counts;
}

interface Node {
  type: string;
  start: number;
  end: number;
}

interface FunctionNode extends Node {
  body: Node;
  async: boolean;
  generator: boolean;
}

/** Those with a body: the types of TypeScript's bodiless ones have other names. */
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

function* functionsIn(value: unknown): Generator<FunctionNode> {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && FUNCTION.test(String(value.type))) yield value as FunctionNode;
  for (const child of Object.values(value)) yield* functionsIn(child);
}

/** The source, in which the body of every function is a function of its own that is handed to `traced`. */
function instrumented(source: string, file: string): string {
  const insertions = [...functionsIn(parseAst(source, { lang: 'ts' }))].flatMap(
    ({ body, async: isAsync, generator }) => {
      const call = `${TRACED}(${JSON.stringify(file)}, ${isAsync ? 'async ' : ''}() => `;
      if (generator) return [{ at: body.start + 1, text: `${call}undefined);` }];
      if (body.type !== 'BlockStatement') {
        return [
          { at: body.start, text: `${call}(` },
          { at: body.end, text: '))' },
        ];
      }
      return [
        { at: body.start + 1, text: `return ${call}{` },
        { at: body.end - 1, text: '})' },
      ];
    },
  );
  let [written, writtenTo] = ['', 0];
  for (const { at, text } of insertions.toSorted((a, b) => a.at - b.at)) {
    written += source.slice(writtenTo, at) + text;
    writtenTo = at;
  }
  return written + source.slice(writtenTo);
}

Object.assign(globalThis, { [TRACED]: traced });
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith(`${ROOT}src/`) || url.endsWith('.generated.ts')) return loaded;
    return { ...loaded, source: instrumented(readFileSync(new URL(url), 'utf8'), url.slice(ROOT.length)) };
  },
});
