ALTER TABLE `variable` ADD `file_encoding` text;--> statement-breakpoint
ALTER TABLE `variable` ADD `file_name` text;