CREATE INDEX `pipeline_by_org_name` ON `pipeline` (`org_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `repository_by_name` ON `repository` (`org_id`,`full_name`,`id`);--> statement-breakpoint
CREATE INDEX `repository_by_clone_url` ON `repository` (`org_id`,`clone_url`,`id`);--> statement-breakpoint
CREATE INDEX `token_by_name` ON `token` (`org_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `variable_by_key` ON `variable` (`org_id`,`key`,`id`);