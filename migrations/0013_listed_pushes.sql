CREATE TABLE `listed_push` (
	`repo_id` text NOT NULL,
	`name` text NOT NULL,
	`login` text NOT NULL,
	`until` text,
	PRIMARY KEY(`repo_id`, `name`, `login`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `listed_push_by_end` ON `listed_push` (`until`);