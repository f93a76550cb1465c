/**
 * What the console calls the settings of an instance and of a site, in groups. A part of a setting that has no name here
 * is called by its name in the API, as words.
 */

export interface SettingGroup {
  title: string;
  /** Setting → what it is called. */
  settings: Readonly<Record<string, string>>;
}

/** Without `botPolicy`, which has a page of its own. */
export const instanceGroups: readonly SettingGroup[] = [
  {
    title: 'Identity',
    settings: {
      name: 'Name',
      cname: 'Host name of the site',
      globalSiteKey: 'Site key of the challenges',
      hosts: 'Host names that the gate answers for',
    },
  },
  {
    title: 'How much is enforced',
    settings: { monitor: 'Only monitor', rollout: 'Share of visitors that decisions are enforced on' },
  },
  {
    title: 'Paths',
    settings: {
      defaultPathType: 'Type of a path that has no other',
      endpointRules: 'Types of paths',
      pathRules: 'Decisions for paths',
    },
  },
  {
    title: 'Visitors without a session',
    settings: {
      sessionsEnabled: 'Visitors have sessions',
      jtiExpirySeconds: 'A session lasts',
      enforcementPolicy: 'What visitors get on each type of path',
      pendingBudget: 'Pages without a session for one network',
      pace: 'Pages and calls of one session in ten minutes',
    },
  },
  {
    title: 'Risk',
    settings: {
      challengeThreshold: 'Challenge from a risk score of',
      blockThreshold: 'Block from a risk score of',
      challengeDifficulty: 'Harder challenges for higher scores',
      ignoredDetectors: 'Detectors that do not count',
      ipCategoryRules: 'Decisions for kinds of addresses',
      cookieCycling: 'Many sessions from one address',
    },
  },
  {
    title: 'Challenges',
    settings: {
      clearanceSeconds: 'A solved challenge counts for',
      clearanceLevel: 'Lowest level that lifts a challenge',
      submission: 'Where a form carries its token',
    },
  },
  {
    title: 'Pages',
    settings: { autoInject: 'Put the protect script into html pages', branding: 'Look of the gate’s own pages' },
  },
  { title: 'Log', settings: { allowVerdicts: 'Allowed requests in the log', retentionDays: 'Verdicts are kept for' } },
];

export const siteGroups: readonly SettingGroup[] = [
  {
    title: 'Where it is shown',
    settings: { domains: 'Domains that may show the widget', privacyUrl: 'Your page on privacy' },
  },
  {
    title: 'Challenge',
    settings: {
      captchaType: 'Kind of challenge',
      frictionlessThreshold: 'Scores from which a visitor gets a picture',
      frictionlessTypes: 'Pictures that a score may choose',
      powDifficulty: 'Price of a proof of work',
      solutionTimeout: 'Time for each round',
      contextAware: 'Other challenges in the browser of an app',
    },
  },
  {
    title: 'Pictures and puzzle',
    settings: {
      imageThreshold: 'Share of pictures that must be right',
      imageMinRounds: 'Rounds of pictures that must succeed',
      imageMaxRounds: 'Rounds of pictures in one challenge',
      puzzleTolerance: 'How far off the piece may be',
      puzzleMaxDifficulty: 'How much harder the puzzle gets',
      puzzle: 'How the puzzle is drawn',
    },
  },
  {
    title: 'Verification',
    settings: {
      verifiedTimeout: 'Time from the solution to the verification',
      minimumLevel: 'Lowest level that verifies',
      autoBanScoreThreshold: 'Refuse from a score of',
      ipValidationRules: 'Another address at the verification',
      disallowWebView: 'Refuse browsers inside apps',
    },
  },
  { title: 'Who may come', settings: { trafficFilter: 'Kinds of addresses', honeypot: 'Field that people never see' } },
  {
    title: 'Email addresses',
    settings: {
      spamEmailDomainCheckEnabled: 'Refuse disposable and invalid addresses',
      spamFilter: 'Which email addresses may come',
      storeMetadata: 'Count submissions of an address',
    },
  },
];

/** Parts of settings, by their path without numbers. */
const parts: Readonly<Record<string, string>> = {
  'pace.html': 'Pages',
  'pace.json': 'Calls for data',
  'endpointRules.pattern': 'Paths',
  'endpointRules.pathType': 'Type',
  'pathRules.pattern': 'Paths',
  'pathRules.methods': 'Methods',
  'pathRules.action': 'Decision',
  'pathRules.waiveSession': 'Needs no session',
  'enforcementPolicy.html': 'Pages (html)',
  'enforcementPolicy.json': 'Data (json)',
  onPending: 'Without a session',
  onChallenge: 'What a challenge becomes',
  onError: 'While there is no ruleset',
  minScore: 'From a risk score of',
  captchaType: 'Kind of challenge',
  powDifficulty: 'Price of a proof of work',
  abuser: 'Known for abuse',
  tor: 'Tor',
  vpn: 'VPN',
  'cookieCycling.threshold': 'Sessions without input',
  'cookieCycling.windowSeconds': 'Within',
  tokenField: 'Name of the field',
  jsonPath: 'Place in a JSON body',
  forwardToken: 'The origin sees the field',
  'branding.name': 'Name of the site',
  logoUrl: 'Address of the logo',
  primaryColor: 'Colour of buttons and links',
  backgroundColor: 'Colour of the background',
  textColor: 'Colour of the text',
  title: 'Heading',
  message: 'Text',
  supportUrl: 'Address for help',
  privacyUrl: 'Page on privacy',
  frictionlessPuzzleThreshold: 'Puzzle from a score of',
  frictionlessImageThreshold: 'Image from a score of',
  countryChangeAction: 'Another country',
  cityChangeAction: 'Another city',
  ispChangeAction: 'Another network operator',
  distanceExceedAction: 'Too far away',
  abuseScoreExceedAction: 'Known for abuse',
  distanceThresholdKm: 'Too far away is more than',
  abuseScoreThreshold: 'Known for abuse is a score of more than',
  requireAllConditions: 'Act only when all of these are so',
  forceConsistentIp: 'The address must be the same',
  countryOverrides: 'Other rules for a country',
  enabled: 'On',
  normaliseGmail: 'Treat the spellings of a Gmail address as one',
  maxLocalPartDots: 'Dots before the @, at most',
  maxEmailSubmissionCount: 'Submissions of one address, at most',
  useDefaultPatterns: 'Refuse addresses that look made up',
  customRegexBlocklist: 'Patterns of addresses that are refused',
  encodingType: 'Written as',
};

/** Values of settings that are not words for people. */
const valueWords: Readonly<Record<string, string>> = {
  html: 'html: a page',
  json: 'json: data',
  budget: 'budget: some pages of a network pass',
  inherit: 'inherit: the path type decides',
  rows: 'rows: each request',
  counts: 'counts: only their number',
  pow: 'proof of work (pow)',
  frictionless: 'chosen by the score (frictionless)',
};

export const valueText = (value: string): string => valueWords[value] ?? value;

const labels = new Map([...instanceGroups, ...siteGroups].flatMap(({ settings }) => Object.entries(settings)));

/** @param path of a setting or a part of one, with dots: `pathRules.0.action`. */
export function settingLabel(path: string): string {
  const names = path.split('.').filter((name) => !/^\d+$/.test(name));
  const last = names.at(-1) ?? '';
  const label = names.length === 1 ? labels.get(last) : (parts[names.join('.')] ?? parts[last]);
  return label ?? inWords(last);
}

/** `decoyEdgeDarkness` → `Decoy edge darkness`. */
function inWords(name: string): string {
  const words = name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The unit of a number, from its name in the API. */
export function unitOf(path: string): string | null {
  const name = path.split('.').at(-1) ?? '';
  if (name === 'rollout') return 'percent';
  if (name.endsWith('Timeout')) return 'milliseconds';
  return /(Seconds|Minutes|Days|Km|Bytes|Percent)$/.exec(name)?.[1]?.toLowerCase() ?? null;
}
