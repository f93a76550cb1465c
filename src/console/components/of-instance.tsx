/** The part of a view that is about the chosen instance, and what is said without one. */
import type { ComponentChildren } from 'preact';
import { shownInstance, instancesLoaded, type Instance } from '../frame/instances.ts';
import { useParams } from '../url/params.ts';
import { EmptyState, Load, Warning } from './page.tsx';

export interface OfInstanceProps {
  /** What it means that the instance only monitors. */
  monitored?: string;
  children: (instance: Instance) => ComponentChildren;
}

export function OfInstance({ monitored, children }: OfInstanceProps) {
  const [params] = useParams();
  const instance = shownInstance(params);
  return (
    <Load of={{ ...instancesLoaded(), calls: [] }}>
      {() =>
        instance === null ? (
          <EmptyState title="The account has no active instance" />
        ) : (
          <>
            {monitored !== undefined && instance.monitor && <Warning>{monitored}</Warning>}
            {children(instance)}
          </>
        )
      }
    </Load>
  );
}
