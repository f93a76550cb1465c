/** Team members. */
import { expect } from 'vitest';
import type { Clause } from '../service.ts';

const ann = { email: 'ann@example.com', name: 'Ann', role: 'viewer' } as const;

export const users: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /users/create returns the new user, and GET /users/get lists every user',
    async holds(service) {
      const account = await service.account();
      const made = await account.api.post('/users/create', ann);
      expect(made).toMatchObject(ann);
      const listed = await account.api.get('/users/get');
      expect(listed).toContainEqual(made);
      expect(listed.map(({ email }) => email)).toEqual(expect.arrayContaining([account.ownerEmail, ann.email]));
    },
  },
  {
    kind: 'endpoint',
    says: 'PUT /users/update changes name, userType and marketingPreferences of the user with that email',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/users/create', ann);
      const change = { email: ann.email, userType: 'admin', marketingPreferences: { news: true } } as const;
      expect(await account.api.put('/users/update', change)).toEqual({ success: true });
      expect(await account.api.put('/users/update', { email: ann.email, name: 'Anna' })).toEqual({ success: true });
      const listed = (await account.api.get('/users/get')).find(({ email }) => email === ann.email);
      expect(listed).toMatchObject({ name: 'Anna', role: 'admin', marketingPreferences: { news: true } });
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /users/delete removes the user and names the email',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/users/create', ann);
      expect(await account.api.post('/users/delete', { email: ann.email })).toEqual({
        success: true,
        deletedUserEmail: ann.email,
      });
      expect((await account.api.get('/users/get')).map(({ email }) => email)).toEqual([account.ownerEmail]);
    },
  },
  {
    kind: 'rejection',
    says: 'role and userType are admin or viewer',
    async holds(service) {
      const account = await service.account();
      await account.refused('/users/create', { ...ann, role: 'owner' }, 'role');
      await account.api.post('/users/create', ann);
      await account.refused('/users/update', { email: ann.email, userType: 'owner' }, 'userType', 'PUT');
    },
  },
  {
    kind: 'rejection',
    says: 'the account owner cannot be created, changed or removed',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/users/create', ann);
      const email = account.ownerEmail;
      for (const [method, path, body] of [
        ['POST', '/users/create', { ...ann, email }],
        ['PUT', '/users/update', { email, userType: 'viewer' }],
        ['POST', '/users/delete', { email }],
      ] as const) {
        const { status, key } = await account.call(path, body, method);
        expect([path, status, key]).toEqual([path, 400, 'PORTAL.CANNOT_MODIFY_OWNER_USER']);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'the last remaining user cannot be deleted',
    async holds(service) {
      const account = await service.account();
      const [only, ...others] = await account.api.get('/users/get');
      expect(others).toEqual([]);
      const { status, key } = await account.call('/users/delete', { email: only?.email });
      expect([status, key]).toEqual([400, 'PORTAL.CANNOT_DELETE_LAST_USER']);
      expect(await account.api.get('/users/get')).toHaveLength(1);
    },
  },
];
