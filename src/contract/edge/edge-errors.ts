/** Error keys that an edge returns. Kept apart from the service's, because the edge Worker carries these and no others. */
export const edgeErrorStatus = {
  'API.BAD_REQUEST': 400,
  'API.INVALID_BODY': 400,
  'API.MISSING_BODY': 400,
  'API.PARSE_ERROR': 400,
  'API.BODY_TOO_LARGE': 413,
  'API.CRAWL_CHARGED': 402,
  'API.FORBIDDEN': 403,
  'API.NOT_FOUND': 404,
  'API.CONFLICT': 409,
  'API.RATE_LIMITED': 429,
  'API.CHALLENGE_REQUIRED': 403,
  'API.NO_SESSION': 401,
  'API.LOOP_DETECTED': 508,
  'API.ORIGIN_UNREACHABLE': 502,
  'API.UNAVAILABLE': 503,
  'API.ACCESS_POLICY_BLOCK': 403,
} as const;
export type EdgeErrorKey = keyof typeof edgeErrorStatus;
