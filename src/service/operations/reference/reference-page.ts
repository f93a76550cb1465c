/**
 * The API reference as one HTML page, made from the OpenAPI document. It has no script and needs no other host, so it
 * works offline and with the strictest content security policy.
 */
import { html, raw } from 'hono/html';

export interface OpenapiDocument {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, OpenapiOperation>>;
  components: { schemas: Record<string, Schema> };
}

interface OpenapiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
}

type Html = ReturnType<typeof html>;

/** Deeper fields are in the document itself. On the page they would be hard to read. */
const DEPTH_MAX = 4;

const style = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:3rem;border-bottom:1px solid #8886}
h3{margin:2rem 0 .25rem;font-family:ui-monospace,monospace;font-size:1rem}
p{margin:.25rem 0}
code{font-family:ui-monospace,monospace}
ul{margin:.25rem 0;padding-left:1.25rem}
.type{opacity:.75}
nav ul{columns:3 16rem;padding:0;list-style:none}
`;

export async function referencePage(document: OpenapiDocument, nonce: string): Promise<string> {
  const byTag = new Map<string, Html[]>();
  const links: Html[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] ?? 'Other';
      byTag.set(tag, [...(byTag.get(tag) ?? []), operationSection(document, method, path, operation)]);
      links.push(html`<li><a href="#${operation.operationId}">${path}</a></li>`);
    }
  }
  const sections = [...byTag].map(
    ([tag, parts]) =>
      html`<section>
        <h2>${tag}</h2>
        ${parts}
      </section>`,
  );
  const { title, version, description } = document.info;
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} API</title>
        <style nonce="${nonce}">
          ${raw(style)}
        </style>
      </head>
      <body>
        <h1>${title} API ${version}</h1>
        <p>${description}</p>
        <p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p>
        <nav aria-label="Endpoints">
          <ul>
            ${links}
          </ul>
        </nav>
        <main>${sections}</main>
      </body>
    </html>`;
  return String(page);
}

function operationSection(document: OpenapiDocument, method: string, path: string, operation: OpenapiOperation): Html {
  const request = operation.requestBody?.content['application/json']?.schema;
  const responses = Object.entries(operation.responses['200']?.content ?? {});
  const types = responses.map(([type]) => type).filter((type) => type !== 'application/json');
  const response = responses[0]?.[1].schema;
  return html`<article id="${operation.operationId}">
    <h3>${method.toUpperCase()} ${path}</h3>
    <p>${operation.summary}. ${operation.description ?? ''}</p>
    ${
      request
        ? html`<p><strong>Body</strong></p>
            ${fieldList(document, request, 0)}`
        : null
    }
    ${
      response
        ? html`<p><strong>Response</strong> ${types.join(', ')}</p>
            ${fieldList(document, response, 0)}`
        : null
    }
  </article>`;
}

function fieldList(document: OpenapiDocument, given: Schema, depth: number): Html | Html[] | null {
  const schema = resolved(document, given);
  if (depth >= DEPTH_MAX) return null;
  if (schema.items)
    return html`<p class="type">array of</p>
      ${fieldList(document, schema.items, depth)}`;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.map((branch) => html`${fieldList(document, branch, depth)}`);
  if (!schema.properties) return depth === 0 ? html`<p class="type">${typeText(document, schema)}</p>` : null;
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties).map(([name, field]) => {
    const mark = required.has(name) ? '' : '?';
    const inner = hasFields(document, field) ? fieldList(document, field, depth + 1) : null;
    return html`<li><code>${name}${mark}</code> <span class="type">${typeText(document, field)}</span>${inner}</li>`;
  });
  return rows.length === 0
    ? html`<p class="type">no fields</p>`
    : html`<ul>
        ${rows}
      </ul>`;
}

/** Whether the schema has fields that need a list of their own. */
function hasFields(document: OpenapiDocument, given: Schema): boolean {
  const schema = resolved(document, given);
  if (schema.items) return hasFields(document, schema.items);
  const branches = schema.anyOf ?? schema.oneOf;
  return branches
    ? branches.some((branch) => hasFields(document, branch))
    : Object.keys(schema.properties ?? {}).length > 0;
}

function typeText(document: OpenapiDocument, given: Schema): string {
  const schema = resolved(document, given);
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return [...new Set(branches.map((branch) => typeText(document, branch)))].join(' or ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.items) return `array of ${typeText(document, schema.items)}${range(schema.minItems, schema.maxItems)}`;
  const name = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any');
  const parts = [
    `${String(name)}${schema.format ? ` (${schema.format})` : ''}`,
    range(schema.minimum ?? schema.minLength, schema.maximum ?? schema.maxLength),
    schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`,
  ];
  return parts.join('');
}

function range(low: number | undefined, high: number | undefined): string {
  const text = `${boundText(low)}…${boundText(high)}`;
  return text === '…' ? '' : ` ${text}`;
}

/** Bounds that only mean "any safe integer" are left out. */
function boundText(value: number | undefined): string {
  return value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? '' : String(value);
}

function resolved(document: OpenapiDocument, schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}
