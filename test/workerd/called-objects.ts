/** Counts the calls of Durable Objects that a piece of work makes: the platform charges each as a request. */

export interface CountedCalls {
  env: ServiceEnv;
  /** `namespace.method` of each call, in order. */
  made: string[];
}

const namespaces = ['RULE_BOOK', 'VERDICT_SHARD', 'SPEND_LEDGER', 'RISK_BOOK', 'LIMIT_LEDGER', 'ATTACK_WATCH'] as const;

/** The same bindings, whose objects' calls are listed. */
export function countedCalls(env: ServiceEnv): CountedCalls {
  const made: string[] = [];
  const counted = Object.fromEntries(namespaces.map((name) => [name, countedNamespace(env[name], name, made)]));
  return { env: { ...env, ...counted } as ServiceEnv, made };
}

function countedNamespace(namespace: object, name: string, made: string[]): object {
  return new Proxy(namespace, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const result = Reflect.apply(value, target, args) as object;
        if (key === 'jurisdiction') return countedNamespace(result, name, made);
        return key === 'get' || key === 'getByName' ? countedStub(result, name, made) : result;
      };
    },
  });
}

function countedStub(stub: object, name: string, made: string[]): object {
  return new Proxy(stub, {
    get(target, key) {
      const method: unknown = Reflect.get(target, key);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => {
        made.push(`${name}.${String(key)}`);
        return Reflect.apply(method, target, args);
      };
    },
  });
}
