/** Has every module that this process loads from now on use `local-runtime.ts` in the place of production's. */
import { registerHooks } from 'node:module';
import { LOCAL_STACK } from './condition.ts';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, { ...context, conditions: [...context.conditions, LOCAL_STACK] }),
});
