/**
 * The API reference as one HTML page, made from the OpenAPI document. A schema that several operations share is shown
 * once, and they link to it. The page has no script and needs no other host, so it works offline and with the strictest
 * content security policy.
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
  description?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
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
}

type Html = ReturnType<typeof html>;

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
        <main>${sections} ${schemaSection(document)}</main>
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
            ${wholeOf(document, request)}`
        : null
    }
    ${
      response
        ? html`<p><strong>Response</strong> ${types.join(', ')}</p>
            ${wholeOf(document, response)}`
        : null
    }
  </article>`;
}

/** The schemas that have a name of their own. The others are requests and responses, shown with their operation. */
function schemaSection(document: OpenapiDocument): Html {
  const schemas = Object.entries(document.components.schemas).filter(([name]) => isShared(name));
  const articles = schemas.map(
    ([name, schema]) =>
      html`<article id="${name}">
        <h3>${name}</h3>
        <p>${prose(schema)}</p>
        ${content(schema)}
      </article>`,
  );
  return html`<section>
    <h2>Schemas</h2>
    ${articles}
  </section>`;
}

/** A message by its own fields, though it is a reference. */
function wholeOf(document: OpenapiDocument, schema: Schema): Html {
  const name = referredTo(schema);
  return content(name === undefined || isShared(name) ? schema : (document.components.schemas[name] ?? {}));
}

/** Operations are named in lower case. */
function isShared(name: string): boolean {
  return /^[A-Z]/.test(name);
}

function content(schema: Schema): Html {
  return html`<p class="type">${typeText(schema)}</p>
    ${fieldList(schema)}`;
}

/** The fields of the schema, of its items and of its choices. What has a name is shown there. */
function fieldList({ items, anyOf = [], properties = {}, required = [], additionalProperties }: Schema): Html {
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      html`<li>
        <code>${name}${required.includes(name) ? '' : '?'}</code> <span class="type">${typeText(field)}</span>
        ${prose(field)} ${fieldList(field)}
      </li>`,
  );
  const values = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return html`${
    fields.length === 0
      ? null
      : html`<ul>
          ${fields}
        </ul>`
  }${[...(items ? [items] : []), ...anyOf, ...values].map(fieldList)}`;
}

/** The description, whose code is between backticks. */
function prose({ description = '' }: Schema): Html[] {
  return description.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}

function typeText(schema: Schema): Html {
  const name = referredTo(schema);
  const preset = schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`;
  if (name !== undefined) return html`<a href="#${name}">${name}</a>${preset}`;
  if (schema.anyOf) {
    const choices = schema.anyOf.map((choice, index) => html`${index === 0 ? '' : ' or '}${typeText(choice)}`);
    return html`${choices}${preset}`;
  }
  if (schema.items) return html`array of ${typeText(schema.items)}${range(schema.minItems, schema.maxItems)}${preset}`;
  return html`${plainType(schema)}${preset}`;
}

function plainType(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const name = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any');
  const format = schema.format ? ` (${schema.format})` : '';
  return `${String(name)}${format}${range(schema.minimum ?? schema.minLength, schema.maximum ?? schema.maxLength)}`;
}

function range(low: number | undefined, high: number | undefined): string {
  const text = `${low ?? ''}…${high ?? ''}`;
  return text === '…' ? '' : ` ${text}`;
}

/** The name of the schema that is referred to. */
function referredTo({ $ref }: Schema): string | undefined {
  return $ref?.replace('#/components/schemas/', '');
}
