/** The stand-in's answers about the login, its accounts and its zones, in the shapes of the platform's API. */
import { type Handlers, Refusal, zoneOf } from './call.ts';

export const loginRoutes: Handlers = [
  [
    'GET',
    /^\/user$/,
    ({ email }) => {
      if (email === null) throw new Refusal(403, 9109, 'Unauthorized to access requested resource');
      return { id: 'user1', email };
    },
  ],
  ['GET', /^\/user\/tokens\/verify$/, () => ({ status: 'active' })],
  ['GET', /^\/accounts$/, ({ accounts }) => accounts.map(({ id, name }) => ({ id, name }))],
  ['GET', /^\/memberships$/, ({ accounts }) => accounts.map(({ id, name }) => ({ id, account: { id, name } }))],
  [
    'GET',
    /^\/zones$/,
    ({ zones }, { query }) =>
      zones
        .filter(({ name }) => (query.get('name') ?? name) === name)
        .filter(({ accountId }) => (query.get('account.id') ?? accountId) === accountId)
        .map(({ id, name, status, accountId }) => ({ id, name, status, account: { id: accountId } })),
  ],
  [
    'GET',
    /^\/zones\/([^/]+)$/,
    (state, _, [id]) => {
      const { name, status, accountId } = zoneOf(state, id);
      return { id, name, status, account: { id: accountId } };
    },
  ],
  [
    'GET',
    /^\/zones\/([^/]+)\/dns_records$/,
    (state, { query }, [id]) => zoneOf(state, id).records.filter(({ name }) => name === (query.get('name') ?? name)),
  ],
  ['GET', /^\/zones\/([^/]+)\/workers\/routes$/, (state, _, [id]) => zoneOf(state, id).routes],
  [
    'DELETE',
    /^\/zones\/([^/]+)\/workers\/routes\/([^/]+)$/,
    (state, _, [id, route]) => {
      const zone = zoneOf(state, id);
      zone.routes = zone.routes.filter((one) => one.id !== route);
      return { id: route };
    },
  ],
];
