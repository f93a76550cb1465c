/** What a run of `npm run bench -- neighbours` simulates, and what came of it. */

export const attackNames = ['posts', 'pages', 'files', 'refused', 'asked', 'wrong', 'cookies', 'solved'] as const;
export type AttackName = (typeof attackNames)[number];

export interface NeighboursPlan {
  /** `null`: a quiet day. */
  attack: AttackName | null;
  /** 6: the /64s of a /56 are what the addresses of a /24 are. */
  family: 4 | 6;
  /** Number of the network. No two runs have the same one. */
  network: number;
  /** The attacker's addresses. */
  attackers: number;
  /** The newcomers' addresses, each of which several have one after the other. */
  addresses: number;
  newcomers: number;
  seconds: number;
}

export interface NeighboursResult {
  sent: number;
  /** The attack's requests, by the status of their responses. */
  statuses: Record<string, number>;
  /** Squarings that the attacker solved. */
  solved: number;
  visits: Visit[];
}

/** What a newcomer noticed. */
export interface Visit {
  /** The first refusal; `null`: there was none. */
  refused: string | null;
  /** Squarings. 0: they were not asked for. */
  sessionPrice: number;
  formPrice: number;
}
