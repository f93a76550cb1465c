/**
 * The OpenAPI 3.1 document of the service, built from the schemas that check its requests. No field is written here, so
 * the document cannot differ from what the service accepts.
 */
import { readFileSync } from 'node:fs';
import { toJSONSchema, type $ZodType } from 'zod/v4/core';
import {
  challengeRequest,
  challengeResponse,
  solutionRequest,
  solutionResponse,
} from '../src/contract/captcha/challenge-api.ts';
import { errorStatus } from '../src/contract/errors.ts';
import {
  aliasRequest,
  aliasResponse,
  siteverifyRequest,
  siteverifyResponse,
} from '../src/contract/captcha/siteverify.ts';
import { waitForm } from '../src/service/captcha/wait/wait-form.ts';
import {
  permissionPowers,
  permissionsFor,
  type Feature,
  type Permission,
} from '../src/contract/management/permissions.ts';
import { addExamples } from './openapi-examples.ts';
import { describeFields } from './openapi-fields.ts';
import { describeInput } from './openapi-input.ts';
import { refTo, shareSchemas } from './openapi-shared.ts';
import { describeSettings, instancePage, sitePage } from './settings-pages.ts';

/** What the document needs of an operation. The operations themselves need the Worker's types. */
export interface DocumentedOperation {
  name: string;
  method: string;
  path: string;
  feature: Feature;
  permission: Permission;
  access: 'read' | 'write';
  summary: string;
  body: $ZodType;
  response: $ZodType;
  responseTypes?: readonly string[];
}

type Json = Record<string, unknown>;

const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export function openapiDocument(operations: readonly DocumentedOperation[]): Json {
  const schemas: Record<string, Json> = { Error: errorSchema(), ProtectError: protectErrorSchema() };
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    item[operation.method.toLowerCase()] = managementOperation(operation, schemas);
  }
  Object.assign(paths, publicPaths(schemas));
  addExamples(paths as Record<string, Json>);
  for (const schema of Object.values(schemas)) describe(schema);
  const components = shareSchemas(schemas);
  describeFields(components);
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version,
      description:
        'Verification, challenges and management. Every response carries X-Request-Id. Times are epoch milliseconds ' +
        'unless a field says otherwise. Bodies may be JSON, urlencoded or multipart; in the latter two, nested ' +
        'values are JSON text or bracket names. Management calls accept and ignore the body fields accountId and ' +
        'token: the account is the one that owns the key.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map((operation) => operation.feature)), 'Verification'].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key token' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-gatehouse',
          description: 'A session of the console. Only calls of its own pages are accepted',
        },
      },
      schemas: components,
      responses: sharedResponses(),
    },
  };
  return withoutAliases(document, components);
}

/** A response that is a shared schema, and nothing else, is that schema's name. */
function withoutAliases(document: Json, schemas: Record<string, Json>): Json {
  const aliases = Object.entries(schemas).filter(([, schema]) => Object.keys(schema).join() === '$ref');
  const targets = new Map(aliases.map(([name, schema]) => [refTo(name), schema['$ref']]));
  for (const [name] of aliases) delete schemas[name];
  return JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === '$ref' ? (targets.get(value as string) ?? value) : value,
  ) as Json;
}

/** Settings of instances and sites, wherever a schema has them. */
function describe(schema: Json): void {
  const properties = (schema['properties'] ?? {}) as Record<string, Json>;
  if ('pathRules' in properties) describeSettings(schema, instancePage);
  // A bot policy alone, to try.
  else if ('botPolicy' in properties)
    describeSettings({ properties: { botPolicy: properties['botPolicy'] } }, instancePage);
  if ('powDifficulty' in properties && 'domains' in properties) describeSettings(schema, sitePage);
  const inner = [...Object.values(properties), schema['items'], ...((schema['anyOf'] ?? []) as unknown[])];
  for (const child of inner) if (typeof child === 'object' && child !== null) describe(child as Json);
}

function managementOperation(operation: DocumentedOperation, schemas: Record<string, Json>): Json {
  const body = schemaOf(operation.body, 'input');
  const request = named(schemas, requestName(operation.name), body);
  const answer = named(schemas, `${operation.name}.response`, schemaOf(operation.response, 'output'));
  const power = permissionPowers[operation.permission];
  const needsBody = Array.isArray(body['required']) && body['required'].length > 0;
  return {
    operationId: operation.name,
    summary: operation.summary,
    description:
      `Feature ${operation.feature}, permission ${permissionsFor(operation).toReversed().join(' or ')}.` +
      (power === undefined ? '' : ` ${power}`) +
      (operation.access === 'write' ? ' A write: refused with 403 while the account owes a payment method.' : ''),
    tags: [operation.feature],
    security: [{ apiKey: [] }, { session: [] }],
    'x-feature': operation.feature,
    'x-permission': operation.permission,
    'x-access': operation.access,
    ...(operation.method === 'GET'
      ? {}
      : { requestBody: { required: needsBody, content: contentOf(request, bodyTypes) } }),
    responses: {
      200: {
        description: 'Success',
        ...(isAboutInstance(operation.path, body) ? { headers: instanceHeaders } : {}),
        content: contentOf(answer, operation.responseTypes ?? ['application/json']),
      },
      ...errorResponses(operation.path.startsWith('/protect/')),
    },
  };
}

const instanceHeaders = {
  'X-Protect-Site-Key': {
    description: 'Site key of the instance that the response is about',
    schema: { type: 'string' },
  },
};

/** Whether a call chooses its instance by `siteKey`. */
function isAboutInstance(path: string, body: Json): boolean {
  return path.startsWith('/protect/') && 'siteKey' in ((body['properties'] ?? {}) as Json);
}

function publicPaths(schemas: Record<string, Json>): Record<string, Json> {
  const post = (
    name: string,
    summary: string,
    request: $ZodType,
    answer: $ZodType,
    statuses: readonly number[],
    types: readonly string[] = ['application/json'],
    description?: string,
  ): Json => ({
    post: {
      operationId: name,
      summary,
      ...(description === undefined ? {} : { description }),
      tags: ['Verification'],
      security: [],
      requestBody: {
        required: true,
        content: contentOf(named(schemas, requestName(name), schemaOf(request, 'input')), types),
      },
      responses: {
        200: {
          description: 'Success',
          content: { 'application/json': { schema: named(schemas, `${name}.response`, schemaOf(answer, 'output')) } },
        },
        ...Object.fromEntries(statuses.map((status) => [status, responseRef(String(status))])),
      },
    },
  });
  return {
    '/siteverify': post(
      'siteverify',
      'Verify a token, once',
      siteverifyRequest,
      siteverifyResponse,
      // Verifying has no limit of calls.
      publicStatuses.filter((status) => status !== 429),
    ),
    '/captcha/v1/challenge': post(
      'create-challenge',
      'Request a challenge (called by the widget)',
      challengeRequest,
      challengeResponse,
      publicStatuses,
    ),
    '/captcha/v1/solution': post(
      'submit-solution',
      'Submit a solution (called by the widget)',
      solutionRequest,
      solutionResponse,
      publicStatuses,
    ),
    ...Object.fromEntries(
      aliases.map(([path, service]) => [
        path,
        post(
          `${service.toLowerCase()}-siteverify`,
          `Verify a token, with the bodies of ${service}`,
          aliasRequest,
          aliasResponse,
          // Every mistake is a 200 that names it.
          [405, 503],
          bodyTypes,
          service === 'reCAPTCHA' ? recaptchaAddress : undefined,
        ),
      ]),
    ),
    '/captcha/v1/wait': waitPage(schemas),
  };
}

const aliases = [
  ['/turnstile/v0/siteverify', 'Turnstile'],
  ['/hcaptcha/siteverify', 'hCaptcha'],
  ['/recaptcha/api/siteverify', 'reCAPTCHA'],
] as const;

const recaptchaAddress =
  'GET is answered too. Without a body, GET and POST read the same fields from the parameters of the address. Send a ' +
  'body instead: addresses are logged in many places.';

const page = (description: string): Json => ({
  description,
  content: { 'text/html': { schema: { type: 'string' } } },
});

const parameter = (name: string, required: boolean): Json => ({
  name,
  in: 'query',
  required,
  schema: { type: 'string' },
});

/** A page for people: its failures are pages too, apart from those that are found before it. */
function waitPage(schemas: Record<string, Json>): Json {
  const failures = Object.fromEntries(
    [400, 403, 413, 415, 429, 500].map((status) => [status, page(statusMeanings[status]!)]),
  );
  const responses = { 200: page('The page'), ...failures, 405: responseRef('405'), 503: responseRef('503') };
  const shared = { tags: ['Verification'], security: [], responses };
  return {
    get: {
      operationId: 'open-wait-page',
      summary: 'The challenge of a visitor without scripts, in a frame of the page (by the widget)',
      ...shared,
      parameters: [parameter('sitekey', true), parameter('action', false), parameter('cdata', false)],
    },
    post: {
      operationId: 'submit-wait-page',
      summary: 'The button of that page',
      ...shared,
      requestBody: {
        required: true,
        content: contentOf(named(schemas, requestName('submit-wait-page'), schemaOf(waitForm, 'input')), [
          'application/x-www-form-urlencoded',
        ]),
      },
    },
  };
}

const publicStatuses = [400, 401, 403, 405, 413, 415, 429, 500, 503];

const statusMeanings: Readonly<Record<string, string>> = {
  400: 'Body missing, unparsable or not matching its schema, or a rejection that the key names',
  401: 'Credential missing, malformed, unknown, deleted or expired',
  403: 'Permission or feature missing, account disabled, or payment method owed',
  404: 'The account has no such item',
  405: 'The path exists with another method, which the Allow header names',
  409: 'The value is taken, or another call changed the item',
  413: 'Body too large, or too many items',
  415: 'Content type not supported',
  429: 'Too many calls. Retry-After says how long to wait',
  500: 'Unexpected failure. The log has the cause under the request id',
  503: 'The service is not configured. Its log names every mistake',
};

function errorResponses(isProtect: boolean): Record<string, Json> {
  return Object.fromEntries(
    Object.keys(statusMeanings).map((status) => [
      status,
      responseRef(isProtect && status === '404' ? 'protect404' : status),
    ]),
  );
}

function sharedResponses(): Record<string, Json> {
  const answering = (description: string, schema: Json): Json => ({
    description,
    content: { 'application/json': { schema } },
  });
  const error = { $ref: refTo('Error') };
  return {
    ...Object.fromEntries(Object.entries(statusMeanings).map(([status, text]) => [status, answering(text, error)])),
    protect404: answering('No active protect instance, or no such item', {
      anyOf: [{ $ref: refTo('ProtectError') }, error],
    }),
  };
}

function responseRef(name: string): Json {
  return { $ref: `#/components/responses/${name}` };
}

function named(schemas: Record<string, Json>, name: string, schema: Json): Json {
  schemas[name] = schema;
  return { $ref: refTo(name) };
}

function contentOf(schema: Json, types: readonly string[]): Json {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function errorSchema(): Json {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'key'],
        properties: {
          code: { type: 'integer', description: 'The HTTP status' },
          message: { type: 'string', description: 'For people. May change' },
          key: { type: 'string', enum: Object.keys(errorStatus), description: 'Stable and never translated' },
          details: {
            type: 'array',
            items: {
              type: 'object',
              required: ['path', 'message'],
              properties: { path: { type: 'string' }, message: { type: 'string' }, index: { type: 'integer' } },
            },
          },
        },
      },
    },
  };
}

function protectErrorSchema(): Json {
  return { type: 'object', required: ['error'], properties: { error: { type: 'string' } } };
}

/**
 * Generators of clients take a field with a default for one that is always there, as in a response. The name tells them
 * that this is a request, whose fields with a default may be left out.
 */
function requestName(operation: string): string {
  return `${operation}.requestBody`;
}

function schemaOf(schema: $ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: (context) => {
      if (io === 'input') describeInput(context);
      withoutSafeBounds(context.jsonSchema as Json);
    },
  }) as Json;
  return rest;
}

/** "Every number that JavaScript can hold" is no bound that a client needs to know. */
function withoutSafeBounds(schema: Json): void {
  for (const key of ['minimum', 'maximum'])
    if (Math.abs(Number(schema[key])) === Number.MAX_SAFE_INTEGER) delete schema[key];
}
