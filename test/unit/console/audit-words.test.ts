/** The sentences of the audit trail. */
import { expect, test } from 'vitest';
import { actorOf, type AuditEntry, deedOf, linesOf, sentLines } from '../../../src/console/views/access/audit-words.ts';
import { expectRows } from '../../support/rows.ts';

type Changes = NonNullable<AuditEntry['changes']>;
type Item = Changes['items'][number];

const byAda = { apiKeyName: null, userEmail: 'ada@example.com', userName: 'Ada', body: {} };
const rule = { kind: 'rule', name: '192.0.2.0/24' } as const;

function entry(operation: string, items: Item[], counts?: Changes['counts'], body: unknown = {}): AuditEntry {
  const counted = counts ?? items.map(({ kind, change }) => ({ kind, change, count: 1 }));
  return { ...byAda, operation, body, changes: { instance: 'Shop', counts: counted, items } };
}

test('a sentence says what became of which thing, and from what to what', () =>
  expectRows<[AuditEntry, string]>(
    [
      [
        entry('create-access-rules', [
          { ...rule, change: 'changed', fields: [{ field: 'verdict', before: 'challenge', after: 'block' }] },
        ]),
        'changed the rule 192.0.2.0/24 from challenge to block',
      ],
      [
        entry('create-access-rules', [{ ...rule, change: 'added', fields: [{ field: 'verdict', after: 'block' }] }]),
        'added the block rule 192.0.2.0/24',
      ],
      [
        entry(
          'rollback-access-rules',
          [{ ...rule, change: 'deleted', fields: [] }],
          [
            { kind: 'rule', change: 'added', count: 1 },
            { kind: 'rule', change: 'deleted', count: 1200 },
          ],
          { version: 3 },
        ),
        'went back to version 3 of the rules: added 1 rule and deleted 1,200 rules',
      ],
      [
        entry('set-policies', [{ kind: 'policy', name: 'admin', change: 'moved', fields: [] }]),
        'moved the policy admin',
      ],
      [
        entry('update-site', [{ kind: 'site', name: 'Shop', change: 'changed', fields: [] }]),
        'saved the site Shop without a change',
      ],
      [
        entry('rotate-alert-channel-secret', [{ kind: 'alert channel', name: 'On call', change: 'named', fields: [] }]),
        'gave the alert channel On call a new secret',
      ],
      [
        entry('set-attack-mode', [
          {
            kind: 'attack mode',
            name: 'Shop',
            change: 'changed',
            fields: [{ field: 'active', before: false, after: true }],
          },
        ]),
        'switched attack mode on for Shop',
      ],
      [
        entry('end-attack-mode', [{ kind: 'attack mode', name: 'Shop', change: 'named', fields: [] }], undefined, {
          reason: 'its time was over',
        }),
        'switched attack mode off for Shop, because its time was over',
      ],
      [
        entry('generate-client-jwt', [{ kind: 'instance', name: '$& Shop', change: 'named', fields: [] }]),
        'issued a client JWT for the instance $& Shop',
      ],
      [{ ...byAda, operation: 'create-site', changes: null }, 'added a site'],
    ],
    ([given, sentence]) => expect(deedOf(given)).toBe(sentence),
  ));

test('a person is called by their name, a key by its name, and the service Gatehouse', () => {
  const of = (who: Partial<AuditEntry>) =>
    actorOf({ ...byAda, operation: 'x', changes: null, userEmail: null, userName: null, ...who });
  expect([of({ userName: 'Ada', userEmail: 'a@b.example' }), of({ userEmail: 'a@b.example' })]).toEqual([
    'Ada',
    'a@b.example',
  ]);
  expect([of({ apiKeyName: 'deploy' }), of({})]).toEqual(['deploy', 'Gatehouse']);
});

test('what changed is in the words of the forms, without JSON', () => {
  const lines = linesOf({
    kind: 'instance',
    name: 'Shop',
    change: 'changed',
    fields: [
      { field: 'monitor', before: true, after: false },
      { field: 'clearanceSeconds', before: 3600, after: 5400 },
      { field: 'pathRules', after: [{ pattern: '/admin/*', action: 'block' }] },
      { field: 'cookieCycling.threshold', before: 5 },
    ],
  });
  expect(lines).toEqual([
    { label: 'Only monitor', before: 'yes', after: 'no' },
    { label: 'A solved challenge counts for', before: '1 hour', after: '90 minutes' },
    { label: 'Decisions for paths', before: null, after: 'Paths: /admin/*, Decision: block' },
    { label: 'Sessions without input', before: '5', after: null },
  ]);
});

test('permissions are in the words of the page of keys', () => {
  const fields = [{ field: 'permissions', after: ['readProtect', 'ofAnotherRelease'] }];
  expect(linesOf({ kind: 'API key', name: 'deploy', change: 'added', fields })).toEqual([
    {
      label: 'Permissions',
      before: null,
      after: 'See traffic, rules and settings of the gate (readProtect), ofAnotherRelease',
    },
  ]);
});

test('an entry from before changes were kept shows what was sent, without ids', () => {
  const body = { siteKey: 'site_1', ifVersion: 4, name: 'Shop', settings: { domains: ['a.example', 'b.example'] } };
  expect(sentLines(body)).toEqual([
    { label: 'Name', before: null, after: 'Shop' },
    { label: 'Domains that may show the widget', before: null, after: 'a.example, b.example' },
  ]);
});
