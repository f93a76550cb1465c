/**
 * Orders the files of a run so that its workers end together. Vitest begins with the largest file of a project; here the
 * projects whose files take long come first as well, and in the last one the properties, which try hundreds of inputs.
 */
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const PROJECTS = ['browser', 'e2e', 'workerd', 'node'];

const place = ({ project, moduleId }: TestSpecification): number =>
  PROJECTS.indexOf(project.name) + (moduleId.includes('/test/unit/') ? 0.5 : 0);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
