/** Pages for the tests of the compatibility scripts: what a page hears, and the fields that its form would send. */
import { expect } from 'vitest';
import { useVisitor, type Visitor, type VisitorOptions } from '../support/visitor.ts';
import { useWidgetServer, type WidgetServer } from './widget-server.ts';

/** Chromium logs every status above 399. The widgets' own warnings begin with the name of the API. */
const EXPECTED = /Failed to load resource|API of Gatehouse|^Gatehouse: /;

export interface CompatPage {
  server: WidgetServer;
  visitor: Visitor;
  /** Opens a page with these elements, and with `script` as its own first script. */
  open: (markup: string, script?: string, headers?: Record<string, string>) => Promise<void>;
  /** Evaluates an expression in the page. */
  run: <Value>(source: string) => Promise<Value>;
  /** Calls of the functions that the page's script made with `hear`. */
  heard: () => Promise<unknown[][]>;
  /** Waits until the page heard this. */
  hears: (...call: unknown[]) => Promise<void>;
  /** Values that the page's first form would send for this name. */
  fields: (name: string) => Promise<string[]>;
  press: () => Promise<void>;
  verified: () => Promise<void>;
}

const OWN = 'const heard = []; const hear = (name) => (...values) => { heard.push([name, ...values]); };';

export const TOKEN: unknown = expect.stringMatching(/^[\w-]{32}$/);

export function useCompatPage(options: VisitorOptions = {}): CompatPage {
  const server = useWidgetServer();
  const visitor = useVisitor({ isSilent: true, expected: (message) => EXPECTED.test(message.text()), ...options });
  const page: CompatPage = {
    server,
    visitor,
    async open(markup, script = '', headers = {}) {
      server.pages.set('/own.js', { body: OWN + script, headers: { 'content-type': 'text/javascript' } });
      const body = `<!doctype html><html lang="en"><title>page</title><script src="/own.js"></script>${markup}`;
      server.pages.set('/page', { body, headers });
      await visitor.page.goto(`${server.url}/page`);
    },
    run: (source) => visitor.page.evaluate(source),
    heard: () => page.run('heard'),
    hears: async (...call) => expect.poll(() => page.heard()).toContainEqual(call),
    fields: (name) => page.run(`new FormData(document.forms[0]).getAll(${JSON.stringify(name)})`),
    press: () => visitor.page.getByRole('checkbox', { name: /I am human/ }).click(),
    verified: () => visitor.page.getByRole('checkbox', { name: 'Verified' }).first().waitFor(),
  };
  return page;
}
