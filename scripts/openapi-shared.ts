/**
 * Names each schema that several operations have, so that the document writes it once and refers to it elsewhere. Schemas
 * are compared as JSON and not as objects of zod: two fields that were declared apart share what they have in common, and
 * so do a request and a response.
 */
type Json = Record<string, unknown>;

/**
 * Name → one place of the schema: an operation's request or response, then its fields. `[]` is any element of a list and
 * `*` any value of a map, `|0` the first choice. A schema whose fields have defaults is another one in a request, where they may be left out:
 * its name ends in `.requestBody`, which is where generators of clients look.
 */
const shared: Readonly<Record<string, string>> = {
  Site: 'get-site.response',
  SiteWithSecretKey: 'create-site.response',
  SiteSettings: 'get-site.response.settings',
  'SiteSettings.requestBody': 'create-site.requestBody.settings',
  FrictionlessThreshold: 'get-site.response.settings.frictionlessThreshold',
  'FrictionlessThreshold.requestBody': 'create-site.requestBody.settings.frictionlessThreshold',
  FrictionlessTypes: 'get-site.response.settings.frictionlessTypes',
  'FrictionlessTypes.requestBody': 'create-site.requestBody.settings.frictionlessTypes',
  PuzzleSettings: 'get-site.response.settings.puzzle',
  'PuzzleSettings.requestBody': 'create-site.requestBody.settings.puzzle',
  PuzzleChange: 'get-site.response.settings.trafficFilter.tor.puzzle',
  PieceScale: 'get-site.response.settings.puzzle.pieceScale',
  IpValidationRules: 'get-site.response.settings.ipValidationRules',
  'IpValidationRules.requestBody': 'create-site.requestBody.settings.ipValidationRules',
  IpValidationOverride: 'get-site.response.settings.ipValidationRules.countryOverrides.*',
  IpValidationAction: 'get-site.response.settings.ipValidationRules.actions.countryChangeAction',
  ContextAware: 'get-site.response.settings.contextAware',
  'ContextAware.requestBody': 'create-site.requestBody.settings.contextAware',
  PageContext: 'get-site.response.settings.contextAware.contexts.default',
  'PageContext.requestBody': 'create-site.requestBody.settings.contextAware.contexts.default',
  SpamFilter: 'get-site.response.settings.spamFilter',
  'SpamFilter.requestBody': 'create-site.requestBody.settings.spamFilter',
  EmailRules: 'get-site.response.settings.spamFilter.emailRules',
  'EmailRules.requestBody': 'create-site.requestBody.settings.spamFilter.emailRules',
  TrafficFilter: 'get-site.response.settings.trafficFilter',
  'TrafficFilter.requestBody': 'create-site.requestBody.settings.trafficFilter',
  TrafficFilterRule: 'get-site.response.settings.trafficFilter.tor',
  Honeypot: 'get-site.response.settings.honeypot',
  'Honeypot.requestBody': 'create-site.requestBody.settings.honeypot',

  Instance: 'create-instance.response',
  ChallengeStep: 'create-instance.response.challengeDifficulty[]',
  EndpointRule: 'create-instance.response.endpointRules[]',
  PathRule: 'create-instance.response.pathRules[]',
  'PathRule.requestBody': 'create-instance.requestBody.pathRules[]',
  EnforcementPolicy: 'create-instance.response.enforcementPolicy',
  'EnforcementPolicy.requestBody': 'create-instance.requestBody.enforcementPolicy',
  FailurePolicy: 'create-instance.response.enforcementPolicy.html',
  'FailurePolicy.requestBody': 'create-instance.requestBody.enforcementPolicy.html',
  IpCategoryRules: 'create-instance.response.ipCategoryRules',
  'IpCategoryRules.requestBody': 'create-instance.requestBody.ipCategoryRules',
  BotPolicy: 'create-instance.response.botPolicy',
  'BotPolicy.requestBody': 'create-instance.requestBody.botPolicy',
  BotActions: 'create-instance.response.botPolicy.behaviours',
  BotOverride: 'create-instance.response.botPolicy.overrides[]',
  BotCharge: 'create-instance.response.botPolicy.charge',
  Bot: 'list-bots.response.bots[]',
  OwnBot: 'add-own-bot.response',
  BotList: 'list-bot-lists.response.lists[]',
  Branding: 'create-instance.response.branding',
  CookieCycling: 'create-instance.response.cookieCycling',
  OriginKey: 'list-origin-keys.response.keys[]',
  ClientJwt: 'list-client-jwts.response.clientJwts[]',
  Submission: 'create-instance.response.submission',
  'Submission.requestBody': 'create-instance.requestBody.submission',

  AccessRule: 'list-access-rules.response.rules[]',
  AccessRuleDefinition: 'create-access-rules.response.rules[]',
  NewAccessRule: 'create-access-rules.requestBody.rules[]',
  AccessRuleType: 'list-access-rules.response.rules[].type',
  AccessRuleHits: 'list-access-rules.response.rules[].hits',
  VisitorBot: 'explain-access-rules.requestBody.bot',
  AccessRuleCondition: 'delete-access-rules.requestBody.conditions[]',
  FiredRule: 'list-verdicts.response.verdicts[].fired_rules[]',
  AccessControlRule: 'get-access-control-rules.response.rules[]',
  AccessRuleVersion: 'access-rules-history.response.versions[]',
  RefusedLine: 'import-access-rules.response.skippedLines[]',
  PolicyCondition: 'check-policy.response.when|0',
  PolicyComparison: 'check-policy.response.when|0|3',
  'PolicyCondition.requestBody': 'check-policy.requestBody.when',
  Policy: 'diff-policies.response.differences.policies[].after|0',
  'Policy.requestBody': 'add-policy.requestBody.policy',
  PolicyAction: 'diff-policies.response.differences.policies[].after|0.then',
  'PolicyAction.requestBody': 'add-policy.requestBody.policy.then',
  PolicyChallenge: 'add-policy.requestBody.policy.then|1',
  PolicyOrigin: 'add-policy.requestBody.policy.then|6',
  PolicyListed: 'import-policies.response.rules[].policy|0',
  PolicyDifference: 'diff-policies.response.differences.policies[]',
  PolicyPreview: 'preview-policies.requestBody',
  Limit: 'get-policies.response.limits[]',
  'Limit.requestBody': 'set-policies.requestBody.limits[]',
  FailedLogin: 'get-policies.response.limits[].loginFailed',
  LimitDifference: 'diff-policies.response.differences.limits[]',
  Origin: 'get-policies.response.origins.*',
  'Origin.requestBody': 'set-policies.requestBody.origins.*',
  OriginListed: 'diff-policies.response.differences.origins[].after|0',
  OriginDifference: 'diff-policies.response.differences.origins[]',
  PolicySetDifference: 'diff-policies.response.differences',
  PolicySetWrite: 'set-policies.response',
  PolicySetVersion: 'policies-history.response.versions[]',
  PreviewedRequest: 'preview-access-rules.response.samples[]',

  Verdict: 'list-verdicts.response.verdicts[]',
  VerdictPage: 'list-verdicts.response',
  VerdictExplanation: 'explain-verdict.response',
  Decision: 'list-verdicts.response.verdicts[].decision',
  DecisionSource: 'list-verdicts.response.verdicts[].source',
  DecisionFilter: 'list-verdicts.requestBody.decision',
  SourceFilter: 'list-verdicts.requestBody.sources',
  DeviceTypeFilter: 'list-verdicts.requestBody.deviceType',
  BotProofFilter: 'list-verdicts.requestBody.proof',
  AsnFilter: 'list-verdicts.requestBody.asn',
  Time: 'list-verdicts.requestBody.since',
  'LogWindow.requestBody': 'list-distinct-sources.requestBody',
  Bucket: 'get-traffic-summary.requestBody.bucket',
  Detector: 'explain-verdict.response.riskParts[].detector',
  RiskPart: 'explain-verdict.response.riskParts[]',
  SessionRiskParts: 'get-risk-history.response.scores[].parts',
  Session: 'list-sessions.response.sessions[]',
  SessionTrait: 'list-sessions.response.sessions[].traits[]',
  TrafficDimension: 'get-traffic-by-dimension.response.groupBy',
  DecisionPoint: 'get-traffic-summary.response.buckets[]',
  BotTraffic: 'get-bot-traffic.response.bots[]',
  ImpostorTraffic: 'get-bot-traffic.response.impostors[]',

  RuleList: 'list-rule-lists.response.lists[]',
  ListAuthorization: 'create-rule-list.requestBody.authorization',
  PreviewedChange: 'preview-access-rules.response.changes[]',
  ListReport: 'preview-rule-list.response.report',
  ListFormat: 'list-rule-lists.response.lists[].format',
  Alert: 'list-alerts.response.alerts[]',
  AlertDelivery: 'list-alerts.response.alerts[].deliveries[]',
  AlertKind: 'update-alert-channel.response.kinds[]',
  AlertChannel: 'update-alert-channel.response',
  QuietHours: 'update-alert-channel.response.quietHours',
  'QuietHours.requestBody': 'create-alert-channel.requestBody.quietHours',

  AttackMode: 'get-attack-mode.response',

  CaptchaRecord: 'search-captcha-records.response.records[]',
  CaptchaCounts: 'get-traffic-data.response[].pow',
  TrafficRow: 'get-traffic-data.response[]',
  User: 'create-user.response',
  AuditEntry: 'get-audit-trail.response.entries[]',
  Success: 'update-user.response',
  ApiKey: 'create-api-key.response',
  Permissions: 'create-api-key.response.permissions',

  Challenge: 'create-challenge.response',
  Picture: 'create-challenge.response.image.picture',
  EdgeVisitor: 'siteverify.requestBody.visitor',
  'AliasRequest.requestBody': 'turnstile-siteverify.requestBody',
  AliasResponse: 'turnstile-siteverify.response',
  IsoTime: 'list-access-rules.response.rules[].createdAt',
  IsoTimeWithOffset: 'create-access-rules.response.rules[].expiry|0',
};

/**
 * Places in a shared schema that hold the same schema again. The schemas that check requests do not call themselves, so
 * that input of any depth overflows no stack.
 */
const recursive: Readonly<Record<string, readonly string[]>> = { PolicyCondition: ['|0.and[]', '|1.or[]', '|2.not'] };

/** These belong to the field and not to the schema. They stand beside a reference. */
const notes = ['description', 'default', 'examples'];

/** @returns the same schemas, and those that are named above, which the others refer to. */
export function shareSchemas(schemas: Readonly<Record<string, Json>>): Record<string, Json> {
  const places = Object.entries(shared).map(([name, place]) => [name, partsOf(schemaAt(schemas, place))] as const);
  const names = new Map<string, string>();
  for (const [name, { text }] of places) {
    const twin = names.get(text);
    if (twin !== undefined) throw new Error(`${name} and ${twin} are one schema`);
    names.set(text, name);
  }
  const referring = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(referring);
    if (typeof value !== 'object' || value === null) return value;
    const { text, own } = partsOf(value as Json);
    const name = names.get(text);
    return name === undefined ? inside(value as Json) : { $ref: refTo(name), ...own };
  };
  const inside = (schema: Json): Json =>
    Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, referring(value)]));
  return {
    ...Object.fromEntries(places.map(([name, { rest }]) => [name, withItself(name, inside(rest))])),
    ...Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, referring(schema) as Json])),
  };
}

function withItself(name: string, schema: Json): Json {
  for (const place of recursive[name] ?? []) Object.assign(partAt(schema, place) ?? {}, { $ref: refTo(name) });
  return schema;
}

export function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}

/** A schema without its notes, also as text, and the notes. */
function partsOf(schema: Json): { rest: Json; own: Json; text: string } {
  const entries = Object.entries(schema);
  const rest = Object.fromEntries(entries.filter(([key]) => !notes.includes(key)));
  const own = Object.fromEntries(entries.filter(([key]) => notes.includes(key)));
  return { rest, own, text: JSON.stringify(rest) };
}

function schemaAt(schemas: Readonly<Record<string, Json>>, place: string): Json {
  const [, message = '', fields = ''] = /^([\w-]+\.(?:requestBody|response))(.*)$/.exec(place) ?? [];
  const found = partAt(schemas[message], fields);
  if (found === undefined) throw new Error(`No operation has the schema ${place}`);
  return found;
}

function partAt(schema: Json | undefined, fields: string): Json | undefined {
  return (fields.match(/[\w*]+|\[\]|\|\d/g) ?? []).reduce(
    (outer: Json | undefined, part) => outer && fieldOf(outer, part),
    schema,
  );
}

function fieldOf(schema: Json, part: string): Json | undefined {
  const options = (schema['anyOf'] ?? schema['oneOf'] ?? []) as Json[];
  if (part.startsWith('|')) return options[Number(part.slice(1))];
  const own = part === '[]' ? schema['items'] : part === '*' ? schema['additionalProperties'] : undefined;
  const property = (schema['properties'] as Json | undefined)?.[part];
  return (own ?? property ?? options.map((option) => fieldOf(option, part)).find((one) => one !== undefined)) as
    | Json
    | undefined;
}
