/**
 * docs/gatehouse.schema.json, checked by a validator that knows nothing of this project: it says of a file what the command
 * says, except for what a schema cannot express.
 */
import { readFileSync } from 'node:fs';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../../src/cli/apply/read-config.ts';
import { RejectedFileError } from '../../../../src/cli/apply/report.ts';
import { expectRows } from '../../../support/rows.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
const isValid = ajv.compile(JSON.parse(readFileSync('docs/gatehouse.schema.json', 'utf8')) as object);

/** The message of the rejection; `null`: the file is accepted. */
async function rejection(text: string): Promise<string | null> {
  try {
    await readConfig('file', text);
    return null;
  } catch (error) {
    if (error instanceof RejectedFileError) return error.message;
    throw error;
  }
}

const site = 'version: 1\nsites: [{ name: shop, settings: ';
const rules = 'version: 1\ninstances: [{ cname: a.example, rules: [';
const list = 'version: 1\ninstances: [{ cname: a.example, lists: [{ name: l, ';
const policy = 'version: 1\ninstances: [{ cname: a.example, policies: [{ name: p, ';
const access = 'version: 1\naccessControl: [{ type: block, expiry: "2099-01-01T00:00:00Z", ';

test('a good file is accepted by both', () =>
  expectRows(
    [
      'version: 1',
      '{"version": 1, "sites": [], "users": []}',
      `${site}{ domains: [a.example], powDifficulty: 5.5 } }]`,
      `${site}{ frictionlessThreshold: { frictionlessImageThreshold: 2 } } }]`,
      'version: 1\ninstances: [{ cname: a.example, site: shop, settings: { monitor: false, hosts: [] } }]',
      `${rules}{ type: ip, value: 192.0.2.1, verdict: block }, { type: asn, value: 012, verdict: allow }] }]`,
      `${rules}{ type: countryCode, value: NO, verdict: block, expiry: "2099-01-01T00:00:00+02:00", rollout: 0.5 }] }]`,
      `${rules}{ type: ip, value: 192.0.2.1, verdict: block, expiry: 2099-01-31 }] }]`,
      `${list}url: "https://l.example/x?key=\${ENV:KEY}", authorization: "\${ENV:LINE}" }] }]`,
      `${list}url: "https://l.example/x?\${ENV:KEY}" }] }]`,
      `${list}url: null, authorization: { header: X-Key, value: "\${ENV:KEY}" } }] }]`,
      `${policy}when: path exists, then: { action: challenge, level: 2 } }] }]`,
      `${policy}when: { not: { field: path, operator: exists } }, then: { action: block }, mode: monitor }] }]`,
      `${access}conditions: [{ field: asn, value: 64496 }] }]`,
      'version: 1\nbots: [{ id: own, behaviours: [search], patterns: [OurBot/] }]',
      'version: 1\nusers: [{ email: zoë@example.com, name: Zoë, role: admin }]',
      'version: 1\nalertChannels: [{ name: Ops, shape: slack, webhookUrl: "${ENV:HOOK}", quietHours: null }]',
    ],
    async (text) => {
      expect(await rejection(text)).toBeNull();
      expect([isValid(parse(text)), isValid.errors]).toEqual([true, null]);
    },
  ));

test('a bad file is rejected by both', () =>
  expectRows(
    [
      '',
      '[]',
      'sites: []',
      'version: 2',
      'version: "1"',
      'version: 1\nsite: []',
      'version: 1\nsites: {}',
      'version: 1\nsites: [{}]',
      'version: 1\nsites: [{ name: a b }]',
      'version: 1\nsites: [{ name: NO, isDefault: false }]',
      `${site}{ domains: [] } }]`,
      `${site}{ powDifficulty: 11 } }]`,
      `${site}{ powDifficulty: "4" } }]`,
      `${site}{ disallowWebView: yes } }]`,
      `${site}{ spam: true } }]`,
      'version: 1\ninstances: [{ cname: 1e3 }]',
      'version: 1\ninstances: [{ cname: a.example, settings: { monitor: 1 } }]',
      'version: 1\ninstances: [{ cname: a.example, globalSiteKey: x }]',
      `${rules}{ type: ip, verdict: block }] }]`,
      `${rules}{ type: ip, value: true, verdict: block }] }]`,
      `${rules}{ type: ip, value: 192.0.2.1, verdict: deny }] }]`,
      `${rules}{ type: ip, value: 192.0.2.1, verdict: block, hits: 5 }] }]`,
      `${rules}{ type: ip, value: 192.0.2.1, verdict: block, note: 1e3 }] }]`,
      `${rules}{ type: ip, value: 192.0.2.1, verdict: block, expiry: true }] }]`,
      `${rules}{ type: ip, value: 192.0.2.1, verdict: block, rollout: "50" }] }]`,
      `${list}authorization: hush-hush }] }]`,
      `${list}authorization: { header: X-Key, value: hush-hush } }] }]`,
      `${list}intervalMinutes: 1 }] }]`,
      `${policy}when: 5, then: { action: block } }] }]`,
      `${policy}when: path exists, then: { action: drop } }] }]`,
      `${policy}when: path exists, then: { action: block, level: 1 } }] }]`,
      `${access}conditions: [] }]`,
      'version: 1\naccessControl: [{ type: block, conditions: [{ field: asn, value: 1 }] }]',
      'version: 1\nbots: [{ id: own, behaviours: [search], patterns: [x] }]',
      'version: 1\nusers: [{ email: nobody, name: Zoe, role: admin }]',
      'version: 1\nusers: [{ email: a@b.example, name: Zoe, role: owner }]',
      'version: 1\nalertChannels: [{ name: Ops, shape: slack, webhookUrl: "https://hooks.example/s3cr3t" }]',
    ],
    async (text) => {
      expect(await rejection(text)).not.toBeNull();
      expect(isValid(parse(text))).toBe(false);
    },
  ));

test('what a schema cannot express is rejected by the command', () =>
  expectRows(
    [
      ['version: 1\nsites: [{ name: a }, { name: A }]', 'has the same name as line 2'],
      [`${site}{ domains: [co.uk] } }]`, 'co.uk is a public suffix'],
      [`${site}{ domains: ["x y"] } }]`, 'not a host name'],
      ['version: 1\ninstances: [{ cname: a.example/b }]', 'is not a host name such as www.example.com'],
      [`${rules}{ type: ip, value: 192.0.2.300, verdict: block }] }]`, 'is not a complete IPv4 or IPv6 address'],
      [
        `${rules}{ type: asn, value: 1, verdict: block },\n  { type: asn, value: AS1, verdict: allow }] }]`,
        'file:3:3  instances[0].rules[1] has the same type and value as line 2',
      ],
      [`${list}url: http://l.example/x }] }]`, 'must be a public https address'],
      [`${list}url: "https://l.example/\${ENV:KEY}/x" }] }]`, 'may refer to variables only in values of its query'],
      [`${list}url: "https://\${ENV:KEY}.l.example/x?k=1" }] }]`, 'may refer to variables only in values of its query'],
      [`${list}url: "https://l.example/x?\${ENV:KEY}=1" }] }]`, 'may refer to variables only in values of its query'],
      [
        `${list}url: "https://l.example/?k=\${ENV:GATEHOUSE_API_KEY}" }] }]`,
        'must not refer to GATEHOUSE_API_KEY, which is a credential',
      ],
      [`${list}authorization: "\${ENV:github_token}" }] }]`, 'must not refer to github_token, which is a credential'],
      [
        `${list}authorization: { header: X-Key, value: "\${ENV:ACTIONS_RUNTIME_TOKEN}" } }] }]`,
        'must not refer to ACTIONS_RUNTIME_TOKEN, which is a credential',
      ],
      [
        'version: 1\nalertChannels: [{ name: Ops, shape: slack, webhookUrl: "${ENV:CLOUDFLARE_API_TOKEN}" }]',
        'must not refer to CLOUDFLARE_API_TOKEN, which is a credential',
      ],
      [`${policy}when: path is, then: { action: block } }] }]`, 'is not valid at line 1, column 6 of the condition'],
      [`${access}conditions: [{ field: ip, value: nowhere }] }]`, 'accessControl[0].conditions[0].value'],
      ['version: 1\nversion: 1', 'Map keys must be unique'],
      ['version: 1\n---\nversion: 1', 'is a second document'],
    ],
    async ([text, message]) => {
      expect(await rejection(text)).toContain(message);
    },
  ));
