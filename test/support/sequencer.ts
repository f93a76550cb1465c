/**
 * Orders the files of a run so that its workers end together. Vitest begins with the largest file of a project; here the
 * files and projects that take long come first, whatever their size.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A minute or more on two cores. */
const LONG_FILES = [
  'browser/console-walk',
  'attacks/pictures-by-program',
  'attacks/hopping-networks',
  'e2e/stack',
  'e2e/configuration-file',
  'e2e/container',
  'browser/console-rules',
  'browser/docs-site',
  'browser/console-traffic',
  'e2e/stack-state',
].map((name) => `/test/${name}.test.ts`);

const PROJECTS = ['promises', 'stack', 'workerd', 'properties', 'node'];

function place({ moduleId, project }: TestSpecification): number {
  const index = LONG_FILES.findIndex((path) => moduleId.endsWith(path));
  return index === -1 ? LONG_FILES.length + PROJECTS.indexOf(project.name) : index;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
